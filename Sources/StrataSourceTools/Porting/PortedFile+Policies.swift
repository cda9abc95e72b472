/// Functions of migration policies, which mapping models call by name.
extension PortedFile {
    /// The compiler takes such a function without its `@objc`, and the migration fails when it is called.
    mutating func reportPolicyFunction(_ node: SyntaxNode, _ range: (start: Int, end: Int), in type: String?) {
        guard let type, let owner = declarations.classes[type], declarations.isPolicy(owner.name),
            !node.has("override_attr"),
            node.has("objc_attr") || owner.node.has("objc_members_attr"),
            !["private", "fileprivate"].contains(node.access), !declarations.performsFunctions(type)
        else { return }
        let labels = node.labels
        let given = node.attributes.first { $0.kind == "objc_attr" }?.text("name")
        let name = given ?? Self.selector(node.name, labels)
        report(
            remaining: range.start,
            "mapping models that call \(owner.name).\(node.name)(\(labels.map { ($0.isEmpty ? "_" : $0) + ":" }.joined())) "
                + "as FUNCTION($entityPolicy, \"\(name)\", ...) need performPredicateFunction(_:arguments:) in "
                + "\(owner.name); without it the migration fails when it runs")
    }

    /// The name that Objective-C has for a method.
    private static func selector(_ name: String, _ labels: [String]) -> String {
        guard let first = labels.first else { return name }
        let start = first.isEmpty ? name : name + "With" + first.prefix(1).uppercased() + first.dropFirst()
        return ([start] + labels.dropFirst()).map { $0 + ":" }.joined()
    }
}
