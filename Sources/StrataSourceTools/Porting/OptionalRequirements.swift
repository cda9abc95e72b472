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
        /// Whether it is a method of a protocol outside of other types that returns a Boolean.
        var isTest = false

        /// `didMove(_:to:)`.
        var title: String {
            isProperty ? name : "\(name)(\(labels.map { ($0.isEmpty ? "_" : $0) + ":" }.joined()))"
        }

        /// Whether a call is of this requirement, by its labels, which closures behind the brackets have none of.
        func isCalled(by call: OptionalCall) -> Bool {
            call.name == name && call.arguments.count == labels.count
                && zip(call.arguments, labels).allSatisfy { argument, label in
                    let found = argument.text("label") ?? ""
                    return found == label || (found.isEmpty && argument["expr"]?.kind == "closure_expr")
                }
        }
    }

    private var byName: [String: [Requirement]]
    private var byUSR: [String: Requirement] = [:]

    init(_ files: [(SourceText, SyntaxNode)]) {
        byName = Self.controllerDelegate
        for (source, tree) in files {
            for node in tree.list("items") { collect(node, source, isTopLevel: true) }
        }
        learnValues(files)
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
                    body: isTopLevel ? Self.body(of: member, source) : nil, isProperty: member.kind == "var_decl",
                    isTest: isTopLevel && member.text("result") == "$sSbD")
                byName[member.name, default: []].append(requirement)
                byUSR[member.usr] = requirement
            } else {
                collect(member, source, isTopLevel: false)
            }
        }
    }

    /// A method that returns a Boolean has the default that all calls have behind `??`, if it is the same.
    private mutating func learnValues(_ files: [(SourceText, SyntaxNode)]) {
        let open = byUSR.filter { $0.value.body == nil && $0.value.isTest }
        guard !open.isEmpty else { return }
        var values: [String: Set<String>] = [:]
        for (source, tree) in files {
            tree.walk { node in
                guard let call = OptionalCall(node) else { return }
                // Protocols may have the same requirement.
                for (usr, requirement) in open where requirement.isCalled(by: call) {
                    values[usr, default: []].insert(call.valueIfMissing(in: source)?.text ?? "")
                }
            }
        }
        for (usr, found) in values where found == ["true"] || found == ["false"] {
            guard var requirement = byUSR[usr], let value = found.first else { continue }
            requirement.body = "{ \(value) }"
            byUSR[usr] = requirement
            byName[requirement.name] = byName[requirement.name]?.map { $0.usr == usr ? requirement : $0 }
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

/// A call `base.name?(...)` or `base.name!(...)` of what the compiler did not find to be optional.
struct OptionalCall {
    let name: String
    let arguments: [SyntaxNode]
    /// The offset of the name.
    let offset: Int
    /// The offset of the mark.
    let mark: Int
    let isForced: Bool
    /// Whether something before the name may be missing, too.
    let hasOptionalBase: Bool
    /// The offset behind the call.
    private let last: Int

    init?(_ node: SyntaxNode) {
        guard node.kind == "call_expr", let last = node.range?.end, let function = node["fn"],
            ["bind_optional_expr", "force_value_expr"].contains(function.kind), let mark = function.range?.end,
            let member = function["sub_expr"], member.kind == "unresolved_dot_expr", let name = member.text("field"),
            let offset = member.range?.end
        else { return nil }
        self.name = name
        self.last = last
        (self.mark, self.offset) = (mark, offset)
        arguments = node["args"]?.list("args") ?? []
        isForced = function.kind == "force_value_expr"
        var isOptional = false
        member["base"]?.walk { isOptional = isOptional || $0.kind == "bind_optional_expr" }
        hasOptionalBase = isOptional
    }

    /// The Boolean behind `??`, and where that begins and ends.
    func valueIfMissing(in source: SourceText) -> (text: String, range: Range<Int>)? {
        let end = source.endOfToken(last)
        let operation = source.nextToken(end)
        guard source.starts("??", at: operation) else { return nil }
        let start = source.nextToken(operation + 2)
        let text = source.text(start..<source.endOfToken(start))
        return ["true", "false"].contains(text) ? (text, end..<source.endOfToken(start)) : nil
    }
}
