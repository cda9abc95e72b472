import Foundation
import StrataModelFile

/// A column of a fetch with dictionary results, or of an index, that is computed by an expression. It is not a
/// property of an entity.
///
/// Thread rule and `@unchecked Sendable`: as for ``NSPropertyDescription``.
open class NSExpressionDescription: NSPropertyDescription, @unchecked Sendable {
    /// What is computed, from an object as `SELF`.
    open var expression: NSExpression? {
        willSet { assertMutable() }
    }

    /// The type of the result. Default ``NSAttributeType/undefinedAttributeType``.
    open var expressionResultType: NSAttributeType = .undefinedAttributeType {
        willSet { assertMutable() }
    }

    /// The type of the result, in the new spelling.
    open var resultType: NSAttributeDescription.AttributeType {
        get { NSAttributeDescription.AttributeType(rawValue: expressionResultType) }
        set { expressionResultType = newValue.rawValue }
    }

    /// A text for logs and for debugging; not to be parsed.
    open override var description: String {
        super.description + ", expression \(expression.map { "\($0)" } ?? "(null)"), "
            + "resultType \(expressionResultType.rawValue)"
    }

    override func addVersionHash(to input: inout VersionHashInput) {
        input.add(byte: 4)
        super.addVersionHash(to: &input)
        input.add(expressionResultType.rawValue)
    }

    override func copyState(from other: NSPropertyDescription) {
        super.copyState(from: other)
        guard let other = other as? NSExpressionDescription else { return }
        expression = other.expression
        expressionResultType = other.expressionResultType
    }
}
