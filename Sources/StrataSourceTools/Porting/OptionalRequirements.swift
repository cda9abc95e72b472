/// What the protocols in the sources leave open to those that conform: only the Objective-C runtime can say who has it.
struct OptionalRequirements {
    struct Requirement {
        var name: String
        /// "" for none.
        var labels: [String]
        /// The protocol's own name.
        var owner: String
        /// The protocol's mangled name; "" for one of Strata's.
        var ownerKey = ""
        /// What the compiler calls the requirement; "" for one of Strata's.
        var usr = ""
        /// How classes that declare the method are known.
        var signature = ""
        /// The body of a default implementation that does what a call does which nobody answers; nil if there is none.
        var body: String?
        var isProperty = false

        /// `didMove(_:to:)`.
        var title: String {
            isProperty ? name : "\(name)(\(labels.map { ($0.isEmpty ? "_" : $0) + ":" }.joined()))"
        }
    }

    private var byName: [String: [Requirement]]
    private var byUSR: [String: Requirement] = [:]

    init(_ files: [(SourceText, SyntaxNode)]) {
        byName = Self.controllerDelegate
        for (source, tree) in files {
            for node in tree.list("items") { collect(node, source, isTopLevel: true) }
        }
    }

    /// Those of one name, with whatever labels.
    func named(_ name: String) -> [Requirement] { byName[name] ?? [] }

    /// The one that a reference leads to.
    func referred(to usr: String) -> Requirement? { byUSR[usr] }

    /// Those of the sources that get a default.
    var rewritten: [Requirement] { byUSR.values.filter { $0.body != nil }.sorted { $0.usr < $1.usr } }

    private mutating func collect(_ node: SyntaxNode, _ source: SourceText, isTopLevel: Bool) {
        for member in node.list("members") where !member.isImplicit {
            if node.kind == "protocol", member.has("optional_attr"), ["func_decl", "var_decl"].contains(member.kind) {
                let requirement = Requirement(
                    name: member.name, labels: member.labels, owner: node.name,
                    ownerKey: String(node.usr.dropFirst(2)), usr: member.usr,
                    signature: PortedDeclarations.signature(member),
                    body: isTopLevel ? Self.body(of: member, source) : nil, isProperty: member.kind == "var_decl")
                byName[member.name, default: []].append(requirement)
                byUSR[member.usr] = requirement
            } else {
                collect(member, source, isTopLevel: false)
            }
        }
    }

    /// A method without a result does nothing; one with an optional result has none, as its call has none.
    private static func body(of member: SyntaxNode, _ source: SourceText) -> String? {
        guard member.kind == "func_decl", let range = member.range else { return nil }
        if member.text("result") == "$sytD" { return "{}" }
        // The type itself need not be known here.
        return source.text(range.start..<source.endOfToken(range.end)).hasSuffix("?") ? "{ nil }" : nil
    }

    /// The requirements of `NSFetchedResultsControllerDelegate`, all of which Strata has defaults for.
    private static let controllerDelegate: [String: [Requirement]] = {
        let methods: [(String, [String])] = [
            ("controllerWillChangeContent", [""]), ("controllerDidChangeContent", [""]),
            ("controller", ["", "didChange", "at", "for", "newIndexPath"]),
            ("controller", ["", "didChange", "atSectionIndex", "for"]), ("controller", ["", "didChangeContentWith"]),
        ]
        return Dictionary(
            grouping: methods.map {
                Requirement(name: $0.0, labels: $0.1, owner: "NSFetchedResultsControllerDelegate", body: "{}")
            }, by: \.name)
    }()
}
