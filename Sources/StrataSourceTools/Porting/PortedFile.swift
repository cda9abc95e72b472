/// One file and what is done about it.
struct PortedFile {
    let source: SourceText
    let tree: SyntaxNode
    var edits: SourceEdits
    /// Whether the file is only looked into.
    var isContext = false
    private(set) var changes: [PortNote] = []
    private(set) var remaining: [PortNote] = []
    /// Whether the target has resources, and so a `Bundle.module`.
    var hasResources = false
    /// The names of the target's models.
    var models: Set<String> = []
    /// Whether the target can import CoreData.
    var hasCoreData = true
    var dependencies = PortedDependencies()
    let declarations: PortedDeclarations
    let requirements: OptionalRequirements
    /// Where selectors of methods stand that are seen to with their call.
    var observingSelectors: Set<Int> = []
    /// Where a notification's observer is added or removed as only Strata can.
    var observing: Int?
    private var seen: Set<String> = []
    /// Where `#keyPath` and `#selector` stand that were seen to.
    private var directives: Set<Int> = []
    private var types: [(range: Range<Int>, key: String)] = []

    init(
        _ source: SourceText, _ tree: SyntaxNode, _ declarations: PortedDeclarations,
        _ requirements: OptionalRequirements
    ) {
        self.source = source
        self.tree = tree
        self.declarations = declarations
        self.requirements = requirements
        edits = SourceEdits(source.bytes)
    }

    mutating func report(change offset: Int, _ message: String) {
        changes.append(PortNote(path: source.path, line: source.position(offset).line, message: message))
    }

    mutating func report(remaining offset: Int, _ message: String) {
        let note = PortNote(path: source.path, line: source.position(offset).line, message: message)
        if !remaining.contains(note) { remaining.append(note) }
    }

    /// Where a node stands.
    private struct Surroundings {
        /// The mangled name of the type that it is part of.
        var type: String?
        /// Whether nothing uses its value.
        var isStatement = false
        /// Whether it is part of a function that other modules see.
        var isInVisibleFunction = false
        /// Whether other modules compile it.
        var isExposed = false
    }

    /// Everything that concerns this file alone.
    mutating func rewrite() {
        visit(tree, in: Surroundings())
        rewriteWhatIsNotPrinted()
        listConditionalCasts()
        requalifyNames()
        importWhatFoundationLacks()
        importPartsOfFoundation()
    }

    private mutating func visit(_ node: SyntaxNode, in outer: Surroundings) {
        let inner = surroundings(of: node, in: outer)
        // The compiler prints some expressions twice.
        if !node.isImplicit, let range = node.range, seen.insert("\(node.kind) \(range)").inserted {
            rewrite(node, range, outer, inner.type)
            if inner.type != outer.type, let key = inner.type { types.append((range.start..<range.end, key)) }
        }
        for (key, value) in node.fields {
            var inner = inner
            inner.isStatement = Self.isStatement(node, key, outer.isStatement)
            if let child = value as? [String: Any] { visit(SyntaxNode(child), in: inner) }
            for child in value as? [[String: Any]] ?? [] { visit(SyntaxNode(child), in: inner) }
        }
    }

    /// Where the parts of a node stand.
    private func surroundings(of node: SyntaxNode, in outer: Surroundings) -> Surroundings {
        var inner = outer
        switch node.kind {
        case "class_decl", "struct_decl", "enum_decl": inner.type = String(node.usr.dropFirst(2))
        case "extension_decl": inner.type = PortedDeclarations.core(node.text("extended_type") ?? "")
        case "func_decl", "constructor_decl", "subscript_decl":
            inner.isInVisibleFunction = ["public", "open", "package"].contains(node.access)
        // A default is compiled by who calls the function.
        case "parameter": if outer.isInVisibleFunction { inner.isExposed = true }
        default: break
        }
        if node.has("inlinable_attr") { inner.isExposed = true }
        return inner
    }

    /// Whether nothing uses the value of what a node has under a key.
    private static func isStatement(_ node: SyntaxNode, _ key: String, _ isStatement: Bool) -> Bool {
        switch node.kind {
        case "brace_stmt": key == "elements"
        // A closure's only expression.
        case "return_stmt": node.isImplicit
        case "assign_expr": key == "src" && node["dest"]?.kind == "discard_assignment_expr"
        case "optional_evaluation_expr", "try_expr", "optional_try_expr", "force_try_expr", "await_expr": isStatement
        default: false
        }
    }

    private mutating func rewrite(
        _ node: SyntaxNode, _ range: (start: Int, end: Int), _ outer: Surroundings, _ type: String?
    ) {
        switch node.kind {
        case "import_decl": rewriteImport(node, range)
        case "class_decl":
            keepName(node, range)
            restateSendable(node, range)
        case "protocol": rewriteProtocol(node, range)
        case "objc_attr", "objc_members_attr": removeAttribute(node, range)
        case "keypath_expr": if node.fields["objc"] as? Bool == true { rewriteKeyPath(range, in: type) }
        case "forced_checked_cast_expr": rewriteCast(node, range)
        case "objc_selector_expr": rewriteSelector(range)
        case "iboutlet_attr", "ibaction_attr", "ib_outlet_attr", "ib_action_attr":
            report(remaining: range.start, "an attribute of Interface Builder's")
        case "call_expr":
            checkCall(node, range)
            rewriteObserver(node, range, in: type)
            rewriteOptionalCall(node, isStatement: outer.isStatement)
            rewriteBundle(node, range, in: type, isExposed: outer.isExposed)
            rewriteMainBundle(node, range, isExposed: outer.isExposed)
        case "func_decl":
            if node.name == "observeValue" { reportObserving(range.start) }
            reportPolicyFunction(node, range, in: type)
        case "assign_expr": rewriteAssignment(node)
        case "unresolved_dot_expr", "declref_expr", "member_ref_expr":
            checkOptionalReference(node, range, in: type)
        default: break
        }
    }

    // MARK: Attributes

    /// The name that `@objc(Name)` gave a class.
    private mutating func keepName(_ node: SyntaxNode, _ range: (start: Int, end: Int)) {
        guard let attribute = node.attributes.first(where: { $0.kind == "objc_attr" }),
            let name = attribute.text("name")
        else { return }
        guard declarations.isManaged(String(node.usr.dropFirst(2))) else {
            if declarations.isPolicy(node.name), name != node.name {
                return report(
                    remaining: range.start,
                    "mapping models may name the policy \(node.name) \"\(name)\": rename it so")
            }
            // Also if it is the class's own name: without the attribute, archives have the module's before it.
            guard declarations.mayBeArchived(node.name) else { return }
            return report(remaining: range.start, "archives may name the class \(node.name) \"\(name)\"")
        }
        guard name != node.name else { return }
        var brace = range.start
        while brace < source.bytes.count, source.bytes[brace] != UInt8(ascii: "{") {
            brace = source.nextToken(source.endOfToken(brace))
        }
        let access = ["public", "open"].contains(node.access) ? "public " : ""
        edits.insert(
            "\n    override \(access)class var objectiveCName: String? { \"\(name)\" }\n", at: brace + 1)
        report(change: range.start, "\(node.name) keeps the name \"\(name)\" as its objectiveCName")
    }

    private mutating func removeAttribute(_ node: SyntaxNode, _ range: (start: Int, end: Int)) {
        let bytes = source.bytes
        // Some attributes' ranges have the @, some have not.
        let first = bytes[range.start] == UInt8(ascii: "@") ? range.start : range.start - 1
        guard first >= 0, bytes[first] == UInt8(ascii: "@") else { return }
        var start = first
        var end = source.endOfToken(range.end)
        // `@objc` alone ends with the word, `@objc(name:)` with the bracket.
        while end < bytes.count, bytes[end] == 32 || bytes[end] == 9 { end += 1 }
        let lineStart = bytes[..<start].lastIndex(of: SourceText.newline).map { $0 + 1 } ?? 0
        let isAlone = bytes[lineStart..<start].allSatisfy(SourceText.isSpace)
        if isAlone, end < bytes.count, bytes[end] == SourceText.newline {
            start = lineStart
            end += 1
        }
        let text = source.text(first..<source.endOfToken(range.end))
        edits.replace(start..<end, with: "")
        report(change: range.start, "\(text) goes")
    }

    // MARK: Expressions

    /// The compiler does not print the conditions of loops over what it does not know. What stands between `#if` and
    /// `#endif` may be left out here.
    private mutating func rewriteWhatIsNotPrinted() {
        var words = SourceWords(source)
        var depth = 0
        while let word = words.next() {
            let start = word.offset - 1
            guard start >= 0, source.bytes[start] == UInt8(ascii: "#") else { continue }
            switch word.text {
            case "if": depth += 1
            case "endif": depth -= 1
            case "keyPath", "selector":
                let open = source.nextToken(source.endOfToken(word.offset))
                guard depth == 0, !directives.contains(start), let end = source.endOfBrackets(open) else { continue }
                let inner = types.filter { $0.range.contains(start) }.min { $0.range.count < $1.range.count }
                if word.text == "keyPath" {
                    rewriteKeyPath((start, end), in: inner?.key)
                } else {
                    rewriteSelector((start, end))
                }
            default: break
            }
        }
    }

    private mutating func rewriteKeyPath(_ range: (start: Int, end: Int), in type: String?) {
        directives.insert(range.start)
        let end = source.endOfToken(range.end)
        let text = source.text(range.start..<end)
        guard let open = text.firstIndex(of: "("), text.hasSuffix(")") else { return }
        var names = text[text.index(after: open)...].dropLast().split(separator: ".").map { name in
            name.filter { !$0.isWhitespace && $0 != "`" }
        }
        var root = type
        if let first = names.first, let key = declarations.named[first] {
            root = key
            names.removeFirst()
        } else if names.count > 1, names[0].first?.isUppercase == true || names[0] == "self" {
            if names[0] != "self" { root = nil }
            names.removeFirst()
        }
        let path = names.joined(separator: ".")
        switch root.flatMap({ declarations.exists(names[...], from: $0) }) {
        case false?:
            return report(remaining: range.start, "\(text) names no property that the class declares in these sources")
        case nil:
            report(remaining: range.start, "\"\(path)\" could not be checked: what it names is declared elsewhere")
        case true?: break
        }
        edits.replace(range.start..<end, with: "\"\(path)\"")
        report(change: range.start, "\(text) becomes \"\(path)\"")
    }

    /// A request with another result type cannot be cast, since its class is generic.
    private mutating func rewriteCast(_ node: SyntaxNode, _ range: (start: Int, end: Int)) {
        guard let inner = node["sub_expr"]?.range else { return }
        let innerEnd = source.endOfToken(inner.end)
        let cast = source.nextToken(innerEnd)
        let end = source.endOfToken(range.end)
        guard source.starts("as!", at: cast), cast < end else { return }
        let type = source.type(at: cast + 3).text
        guard type.hasPrefix("NSFetchRequest<"), type.hasSuffix(">") else { return }
        edits.insert("\(type)(converting: ", at: range.start)
        // A copy is of any type, and the conversion makes one.
        let copy = ".copy()"
        let hasCopy = source.text(range.start..<innerEnd).hasSuffix(copy)
        edits.replace(innerEnd - (hasCopy ? copy.utf8.count : 0)..<end, with: ")")
        report(change: range.start, "the cast to \(type) becomes a conversion")
    }

    /// Lists conditional casts to requests, which give nothing without a word when the program runs. The compiler does
    /// not print where they stand in conditions.
    private mutating func listConditionalCasts() {
        var token = source.nextToken(0)
        while token < source.bytes.count {
            if source.starts("as?", at: token) {
                let text = source.type(at: token + 3).text
                let type = text.firstIndex(of: ">").map { text[...$0] } ?? ""
                // What any store may be asked is cast to a request of results.
                if type.hasPrefix("NSFetchRequest<"), !type.contains("NSFetchRequestResult") {
                    report(
                        remaining: token,
                        "as? \(type) is nil for a request with another result type, such as a model's template: "
                            + "write \(type)(converting: ...)")
                }
            }
            token = source.nextToken(source.endOfToken(token))
        }
    }

    /// What a selector names by which key-value coding or a sort descriptor finds something; there are no others.
    private mutating func rewriteSelector(_ range: (start: Int, end: Int)) {
        directives.insert(range.start)
        guard !observingSelectors.contains(range.start) else { return }
        let end = source.endOfToken(range.end)
        let text = source.text(range.start..<end)
        guard let name = Self.selectorName(text) else {
            return report(
                remaining: range.start, "#selector: there are no selectors of methods; call a closure instead")
        }
        edits.replace(range.start..<end, with: "Selector(\"\(name)\")")
        report(change: range.start, "\(text) becomes Selector(\"\(name)\")")
    }

    private static func selectorName(_ text: String) -> String? {
        guard let open = text.firstIndex(of: "("), text.hasSuffix(")") else { return nil }
        let inner = text[text.index(after: open)...].dropLast().filter { !$0.isWhitespace && $0 != "`" }
        let getter = "getter:"
        if inner.hasPrefix(getter) {
            return inner.dropFirst(getter.count).split(separator: ".").last.map { String($0) }
        }
        let method = inner.split(separator: ".").last.map { String($0.prefix { $0 != "(" }) } ?? ""
        return inner.contains(".") && comparisons.contains(method) ? method + ":" : nil
    }

    /// The methods that sort descriptors name.
    private static let comparisons: Set<String> = [
        "compare", "caseInsensitiveCompare", "localizedCompare", "localizedCaseInsensitiveCompare",
        "localizedStandardCompare",
    ]

    /// Managed objects and contexts have `observe(_:options:changeHandler:)` and `publisher(for:)`; the compiler says
    /// so of what has not.
    private mutating func checkCall(_ node: SyntaxNode, _ range: (start: Int, end: Int)) {
        let end = source.endOfToken(range.end)
        guard let name = node["fn"]?.text("field") ?? node["fn"]?.text("name"), name == "addObserver" else { return }
        let labels = node["args"]?.text("labels") ?? ""
        if labels.contains("forKeyPath") || source.text(range.start..<end).contains("forKeyPath:") {
            reportObserving(range.start)
        }
    }

    private mutating func reportObserving(_ offset: Int) {
        report(remaining: offset, "key-value observing by name: use observe(_:options:changeHandler:) of the object")
    }
}
