/// Observers of notifications: Strata's `addObserver(_:selector:name:object:)` takes a method in the selector's place.
extension PortedFile {
    /// `selector: #selector(changed(_:))` becomes `selector: Stack.changed(_:)`.
    ///
    /// - Parameter type: the mangled name of the type in which the call stands.
    mutating func rewriteObserver(_ node: SyntaxNode, _ range: (start: Int, end: Int), in type: String?) {
        let arguments = node["args"]?.list("args") ?? []
        // The compiler knows this call, and prints it without its words. Foundation's does nothing here.
        let call = source.text(range.start..<range.end).filter { !$0.isWhitespace }
        if call.hasPrefix("NotificationCenter."), call.contains(".removeObserver(self") { observing = range.start }
        guard node["fn"]?.text("field") == "addObserver", arguments.count == 4,
            arguments[1].text("label") == "selector",
            let range = arguments[1]["expr"]?.range, arguments[1]["expr"]?.kind == "objc_selector_expr"
        else { return }
        let end = source.endOfToken(range.end)
        let selector = source.text(range.start..<end)
        guard let method = observerMethod(selector, isSelf: text(of: arguments[0]) == "self", in: type) else { return }
        observingSelectors.insert(range.start)
        guard !method.isIsolated else {
            return report(
                remaining: range.start,
                "\(selector) is of the main actor: observe with addObserver(forName:object:queue:using:), and keep the "
                    + "token")
        }
        guard hasCoreData else {
            return report(
                remaining: range.start,
                "\(selector): only Strata has observers' methods; let the target depend on the product CoreData")
        }
        edits.replace(range.start..<end, with: method.text)
        report(change: range.start, "\(selector) becomes the method \(method.text)")
        observing = range.start
    }

    private func text(of argument: SyntaxNode) -> String {
        guard let range = argument["expr"]?.range else { return "" }
        return source.text(range.start..<source.endOfToken(range.end))
    }

    /// The method of a class that a selector means; nil if the sources do not show one that takes a notification.
    private func observerMethod(
        _ selector: String, isSelf: Bool, in type: String?
    ) -> (text: String, isIsolated: Bool)? {
        guard let open = selector.firstIndex(of: "("), selector.hasSuffix(")") else { return nil }
        var inner = selector[selector.index(after: open)...].dropLast().filter { !$0.isWhitespace }
        if inner.hasPrefix("self.") { inner.removeFirst("self.".count) }
        let parts = inner.split(separator: ".").map { String($0) }
        var key = type
        switch parts.count {
        case 1: if !isSelf { return nil }
        case 2 where parts[0] != "Self": key = declarations.named[parts[0]]
        case 2: break
        default: return nil
        }
        guard let key, let own = declarations.classes[key], let reference = parts.last,
            let handler = declarations.handler(reference.filter { $0 != "`" }, in: key)
        else { return nil }
        return ("\(own.name).\(reference)", handler.isIsolated || PortedDeclarations.isIsolated(own.node))
    }
}
