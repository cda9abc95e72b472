/// Protocols of Objective-C's, and calls of what they leave open.
extension PortedFile {
    // MARK: Protocols

    /// Requirements that need not be met get a default, where it is certain which.
    mutating func rewriteProtocol(_ node: SyntaxNode, _ range: (start: Int, end: Int)) {
        if node.has("objc_attr") { keepToClasses(node, range) }
        var defaults: [String] = []
        for member in node.list("members") where member.has("optional_attr") {
            guard let range = member.range, member.kind == "func_decl" || member.kind == "var_decl" else { continue }
            guard let requirement = requirements.referred(to: member.usr) else { continue }
            guard let body = requirement.body else {
                report(
                    remaining: range.start,
                    "an optional requirement with a value: take 'optional' away, and give '\(requirement.title)' a default "
                        + "in an extension of \(node.name)")
                continue
            }
            for attribute in member.attributes where attribute.kind == "optional_attr" { removeWord(attribute) }
            defaults.append("    \(declaration(member)) \(body)\n")
            report(change: range.start, "'\(requirement.title)', which is optional, gets a default")
        }
        guard !defaults.isEmpty else { return }
        let access = ["public", "package"].contains(node.access) ? node.access + " " : ""
        edits.insert(
            "\n\n// What conforming classes need not have.\n\(access)extension \(node.name) {\n\(defaults.joined())}",
            at: source.endOfToken(range.end))
    }

    /// Only classes conform to a protocol of Objective-C's, on which weak references to it rely.
    private mutating func keepToClasses(_ node: SyntaxNode, _ range: (start: Int, end: Int)) {
        let end = source.endOfToken(source.nextToken(source.endOfToken(range.start)))
        let next = source.nextToken(end)
        let isAlone = !source.starts(":", at: next)
        guard let brace = source.bytes[next...].firstIndex(of: UInt8(ascii: "{")) else { return }
        let inherited = source.text(next..<brace).split { !$0.isLetter && !$0.isNumber && $0 != "_" }
        guard !inherited.contains(where: { ["AnyObject", "class", "NSObjectProtocol"].contains($0) }) else { return }
        if isAlone {
            edits.insert(": AnyObject", at: end)
        } else {
            edits.insert(" AnyObject,", at: next + 1)
        }
        report(change: range.start, "\(node.name) stays a protocol of classes: AnyObject")
    }

    /// The declaration with the attributes that it keeps.
    private func declaration(_ member: SyntaxNode) -> String {
        guard let range = member.range else { return "" }
        var start = range.start
        var gone: [Range<Int>] = []
        for attribute in member.attributes {
            guard !attribute.isImplicit, let word = wholeWord(attribute) else { continue }
            start = min(start, word.lowerBound)
            if ["optional_attr", "objc_attr"].contains(attribute.kind) { gone.append(word) }
        }
        var text = ""
        var offset = start
        for word in gone.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            text += source.text(offset..<word.lowerBound)
            offset = word.upperBound
        }
        return text + source.text(offset..<source.endOfToken(range.end))
    }

    private mutating func removeWord(_ attribute: SyntaxNode) {
        if let word = wholeWord(attribute) { edits.replace(word, with: "") }
    }

    /// An attribute or a modifier with the space behind it.
    private func wholeWord(_ attribute: SyntaxNode) -> Range<Int>? {
        guard let range = attribute.range else { return nil }
        let hasMark = range.start > 0 && source.bytes[range.start - 1] == UInt8(ascii: "@")
        var end = source.endOfToken(range.end)
        while end < source.bytes.count, SourceText.isSpace(source.bytes[end]) { end += 1 }
        return (hasMark ? range.start - 1 : range.start)..<end
    }

    // MARK: Calls

    /// `delegate?.didMove?(x)`: there is always something to call then, so the mark goes.
    mutating func rewriteOptionalCall(_ node: SyntaxNode, isStatement: Bool) {
        guard let call = OptionalCall(node) else { return }
        let candidates = requirements.named(call.name)
        guard !candidates.isEmpty else { return }
        // Protocols may have the same requirement.
        let called = candidates.filter { $0.isCalled(by: call) }
        let requirement = called.first ?? candidates[0]
        let title = requirement.title
        // The compiler knows a property that is called by right, unless something else in the statement is wrong.
        guard !call.isForced, let body = called.first?.body, called.allSatisfy({ $0.body == body }),
            !declarations.functions.contains(call.name)
        else {
            return report(
                remaining: call.offset,
                "a call of '\(title)', if this is what \(requirement.owner) has optional: with a default in an extension "
                    + "of the protocol it has no mark")
        }
        guard isStatement || body != "{}" else {
            return report(
                remaining: call.offset,
                "whether '\(title)' was called cannot be asked: \(requirement.owner) has a default here")
        }
        edits.replace(call.mark..<call.mark + 1, with: "")
        report(change: call.offset, "the call of '\(title)' loses its '?'")
        if requirement.isTest, !call.hasOptionalBase, let value = call.valueIfMissing(in: source) {
            edits.replace(value.range, with: "")
        }
    }

    /// Whether a name behind `self.`, which may be left out, is that of a property.
    private func isOwnProperty(_ name: String, of node: SyntaxNode, in type: String?) -> Bool {
        guard let base = node["base"], let type, declarations.hasProperty(name, in: type) else { return false }
        return base.isImplicit || base.range.map { source.text($0.start..<source.endOfToken($0.end)) } == "self"
    }

    /// `delegate?.didMove != nil`: everyone has what has a default.
    mutating func checkOptionalReference(_ node: SyntaxNode, _ range: (start: Int, end: Int), in type: String?) {
        var found: OptionalRequirements.Requirement?
        if node.kind == "unresolved_dot_expr", node["function_ref"]?.text("apply_level") == "unapplied",
            let field = node.text("field"), !declarations.functions.contains(field),
            !isOwnProperty(field, of: node, in: type)
        {
            found = requirements.named(field).first { !$0.usr.isEmpty && !$0.isProperty }
        } else if let usr = node["decl"]?.text("decl_usr") {
            found = requirements.referred(to: usr)
        }
        guard let found else { return }
        report(
            remaining: range.end,
            found.isProperty
                ? "'\(found.title)' is optional: with a default in an extension of \(found.owner) it is never missing"
                : "whether anyone has '\(found.title)', which is optional, cannot be asked")
    }
}
