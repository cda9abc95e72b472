// Archived expressions, as mapping models hold them.
extension ArchiveWriter {
    /// `$name`
    package func variable(_ name: String) -> Node {
        object("NSVariableExpression", [("NSExpressionType", .integer(2)), ("NSVariable", string(name))])
    }

    /// A text.
    package func constant(_ text: String) -> Node {
        object("NSConstantValueExpression", [("NSExpressionType", .integer(0)), ("NSConstantValue", string(text))])
    }

    /// `operand.path`
    package func keyPath(_ operand: Node, _ path: String) -> Node {
        let specifier = object(
            "NSKeyPathSpecifierExpression", [("NSExpressionType", .integer(10)), ("NSKeyPath", string(path))])
        return object("NSKeyPathExpression", call(operand, "valueForKeyPath:", arguments: [specifier]))
    }

    /// `FUNCTION(target, "name", ...)`
    package func function(_ target: Node, _ name: String, _ arguments: [Node]) -> Node {
        object("NSFunctionExpression", call(target, name, arguments: arguments))
    }

    /// `FETCH(request, context, NO)`
    package func fetch(_ request: Node, _ context: Node) -> Node {
        object(
            "NSFetchRequestExpression",
            [
                ("NSExpressionType", .integer(50)), ("NSFRExpression", request), ("NSMOCExpression", context),
                ("NSCountOnlyFlag", .bool(false)),
            ])
    }

    private func call(_ target: Node, _ name: String, arguments: [Node]) -> [(String, Node)] {
        [
            ("NSExpressionType", .integer(4)), ("NSOperand", target), ("NSSelectorName", string(name)),
            ("NSArguments", list(arguments, "NSMutableArray")),
        ]
    }
}
