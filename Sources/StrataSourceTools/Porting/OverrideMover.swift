/// Moves members that an extension cannot have on Linux into the class: overrides, and what a subclass overrides.
struct OverrideMover {
    private let declarations: PortedDeclarations

    init(_ declarations: PortedDeclarations) {
        self.declarations = declarations
    }

    func move(in files: inout [PortedFile]) {
        for index in files.indices where !files[index].isContext {
            for node in files[index].tree.list("items") where node.kind == "extension_decl" {
                let key = PortedDeclarations.core(node.text("extended_type") ?? "")
                for member in members(of: node, key) { move(member, of: node, to: key, from: index, in: &files) }
            }
        }
    }

    /// What has to move: the declarations, properties as a whole.
    private func members(
        of node: SyntaxNode, _ key: String
    ) -> [(name: String, range: (start: Int, end: Int), attributes: [SyntaxNode])] {
        let all = node.list("members")
        return all.compactMap { member in
            guard !member.isImplicit, let range = member.range else { return nil }
            guard member.has("override_attr") || declarations.isOverridden(member, of: key) else { return nil }
            guard member.kind == "var_decl" else { return (member.name, range, member.attributes) }
            let binding = all.first { other in
                guard other.kind == "pattern_binding_decl", let outer = other.range else { return false }
                return outer.start <= range.start && range.start <= outer.end
            }
            return (member.name, binding?.range ?? range, member.attributes)
        }
    }

    private func move(
        _ member: (name: String, range: (start: Int, end: Int), attributes: [SyntaxNode]), of node: SyntaxNode,
        to key: String, from index: Int, in files: inout [PortedFile]
    ) {
        let source = files[index].source
        guard let type = declarations.classes[key], let end = type.node.range?.end else {
            files[index].report(
                remaining: member.range.start, "'\(member.name)' must be in its class, which is in another module")
            return
        }
        guard !files[type.file].isContext else {
            let isGenerated = files[type.file].source.path.hasSuffix("+CoreDataModel.swift")
            files[index].report(
                remaining: member.range.start,
                isGenerated
                    ? "'\(member.name)' must be in its class, which is generated: in the model, set the entity's "
                        + "Codegen to Category/Extension (codeGenerationType=\"category\"), and write class "
                        + "\(type.name) with this in it"
                    : "'\(member.name)' must be in its class, which stays as it is: move it there")
            return
        }
        let range = wholeLines(member.range, member.attributes, source)
        var text = files[index].edits.cut(range)
        let ownAccess = member.attributes.contains { $0.kind == "access_control_attr" }
        let access = node.attributes.first { $0.kind == "access_control_attr" }?.text("access_level")
        if !ownAccess, let access, let range = text.firstRange(of: "override ") {
            text.insert(contentsOf: access + " ", at: range.lowerBound)
        }
        // The line above is empty: the first one is to be the declaration's.
        let origin = SourceEdits.Origin(path: source.path, line: source.position(range.lowerBound).line - 1)
        files[type.file].edits.insert(
            "\n" + text, at: lineStart(end, files[type.file].source), from: origin)
        files[index].report(change: member.range.start, "'\(member.name)' moves into the class \(type.name)")
    }

    /// The declaration with its attributes and the comments above it, by whole lines where it has them for itself.
    private func wholeLines(
        _ range: (start: Int, end: Int), _ attributes: [SyntaxNode], _ source: SourceText
    ) -> Range<Int> {
        let first = attributes.compactMap { $0.range?.start }.min().map { start in
            start > 0 && source.bytes[start - 1] == UInt8(ascii: "@") ? start - 1 : start
        }
        var start = lineStart(min(first ?? range.start, range.start), source)
        while start > 0 {
            let above = lineStart(start - 1, source)
            let line = source.text(above..<start).drop { $0.isWhitespace }
            guard line.hasPrefix("//") else { break }
            start = above
        }
        var end = source.endOfToken(range.end)
        while end < source.bytes.count, source.bytes[end] != SourceText.newline { end += 1 }
        return start..<min(end + 1, source.bytes.count)
    }

    private func lineStart(_ offset: Int, _ source: SourceText) -> Int {
        source.bytes[..<offset].lastIndex(of: SourceText.newline).map { $0 + 1 } ?? 0
    }
}
