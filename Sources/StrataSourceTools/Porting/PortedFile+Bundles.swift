/// Where resources are looked for: on Linux a class has no bundle of its own.
extension PortedFile {
    /// How another target, such as that of the tests, gets at the resources.
    private static let export =
        "For other targets that one declares public let modelBundle = Bundle.module, and they write modelBundle"

    /// `Bundle(for: Some.self)` means the bundle of the target that has the class. On Linux it is the program's folder.
    ///
    /// - Parameters:
    ///   - type: the mangled name of the type in which the call stands.
    ///   - isExposed: whether the users of the module compile the call, too, who do not see `Bundle.module`.
    mutating func rewriteBundle(_ node: SyntaxNode, _ range: (start: Int, end: Int), in type: String?, isExposed: Bool)
    {
        guard let arguments = node["args"]?.list("args"), arguments.count == 1, let label = arguments[0].text("label"),
            label == "for" || label == "identifier", isBundle(node, range)
        else { return }
        let end = source.endOfToken(range.end)
        let text = source.text(range.start..<end)
        guard label == "for" else {
            return report(
                remaining: range.start,
                "\(text) is nil on Linux: write Bundle.module in the target that has the resources. \(Self.export)")
        }
        guard belongsToModule(arguments[0], in: type) else {
            return report(
                remaining: range.start,
                "\(text) is the program's folder on Linux: write Bundle.module in the target that has the resources. "
                    + Self.export)
        }
        guard hasResources else {
            return report(
                remaining: range.start,
                "\(text) is the program's folder on Linux, and this target has no resources. \(Self.export)")
        }
        guard !isExposed else {
            return report(
                remaining: range.start,
                "\(text) is the program's folder on Linux: take a Bundle? here, and Bundle.module, which is internal, "
                    + "where it is nil")
        }
        edits.replace(range.start..<end, with: "Bundle.module")
        report(change: range.start, "\(text) becomes Bundle.module")
    }

    /// `Bundle.main` has an app's models on Apple's platforms, and none here.
    mutating func rewriteMainBundle(_ node: SyntaxNode, _ range: (start: Int, end: Int), isExposed: Bool) {
        guard let arguments = node["args"]?.list("args"), arguments.count == 2,
            source.starts("Bundle.main.", at: range.start),
            arguments[0].text("label") == "forResource", let kind = literal(arguments[1]),
            kind == "momd" || kind == "mom"
        else { return }
        let call = source.text(range.start..<source.endOfToken(range.end))
        guard let name = literal(arguments[0]), models.contains(name), !isExposed else {
            return report(
                remaining: range.start,
                "\(call): no model is there on Linux; Bundle.module of the target that has it knows it. \(Self.export)")
        }
        edits.replace(range.start..<range.start + "Bundle.main".utf8.count, with: "Bundle.module")
        report(change: range.start, "Bundle.main becomes Bundle.module, which has the model \(name)")
    }

    /// The text of a string as it stands in the source.
    private func literal(_ argument: SyntaxNode) -> String? {
        guard let start = argument["expr"]?.range?.start, source.starts("\"", at: start),
            let end = source.bytes[(start + 1)...].firstIndex(of: UInt8(ascii: "\""))
        else { return nil }
        return source.text(start + 1..<end)
    }

    private func isBundle(_ node: SyntaxNode, _ range: (start: Int, end: Int)) -> Bool {
        var open = range.start
        while open < range.end, source.bytes[open] != UInt8(ascii: "(") { open += 1 }
        switch source.text(range.start..<open).filter({ !$0.isWhitespace }) {
        case "Bundle", "Bundle.init", "Foundation.Bundle", "Foundation.Bundle.init": return true
        case ".init": return node.text("type") == "$s10Foundation6BundleCD"
        default: return false
        }
    }

    /// Whether an argument certainly is a class of this module.
    private func belongsToModule(_ argument: SyntaxNode, in type: String?) -> Bool {
        guard let range = argument["expr"]?.range else { return false }
        let text = source.text(range.start..<source.endOfToken(range.end)).filter { !$0.isWhitespace }
        if ["type(of:self)", "Self.self", "self"].contains(text) {
            // A subclass of an open class may be in another module.
            guard let type, let own = declarations.classes[type] else { return false }
            return own.node.access != "open"
        }
        guard text.hasSuffix(".self") else { return false }
        return declarations.named[text.dropLast(5).split(separator: ".").last.map { String($0) } ?? ""] != nil
    }
}
