/// Literals that Objective-C's classes take on Apple's platforms only.
extension PortedFile {
    /// An array that is assigned to a property of the type `NSSet`, which no literal makes on Linux.
    mutating func rewriteAssignment(_ node: SyntaxNode) {
        var target = node["dest"]
        while let inner = target?["sub_expr"] { target = inner }
        guard let source = node["src"], source.kind == "array_expr", let range = source.range,
            let name = target?.text("field") ?? target?["decl"]?.text("base_name") ?? target?.text("name"),
            declarations.isSet(name)
        else { return }
        edits.insert("NSSet(array: ", at: range.start)
        edits.insert(")", at: self.source.endOfToken(range.end))
        report(change: range.start, "the array for \(name), which is an NSSet, becomes NSSet(array:)")
    }
}
