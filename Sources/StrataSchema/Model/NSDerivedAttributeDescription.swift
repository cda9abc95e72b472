import Foundation
import StrataModelFile

/// An attribute that is computed from others when an object is saved.
///
/// Thread rule and `@unchecked Sendable`: as for ``NSPropertyDescription``.
///
/// ```swift
/// let sortTitle = NSDerivedAttributeDescription()
/// sortTitle.name = "sortTitle"
/// sortTitle.attributeType = .stringAttributeType
/// sortTitle.derivationExpression = NSExpression(format: "canonical:(title)")
/// ```
open class NSDerivedAttributeDescription: NSAttributeDescription, @unchecked Sendable {
    /// What is computed: a key path through to-one relationships, `canonical:`, `uppercase:` or `lowercase:` of one,
    /// `relationship.@count` or `relationship.attribute.@sum`, or `now()`.
    open var derivationExpression: NSExpression? {
        willSet { assertMutable() }
    }

    /// A text for logs and for debugging; not to be parsed.
    open override var description: String {
        super.description + ", derivationExpression \(derivationExpression.map { "\($0)" } ?? "(null)")"
    }

    override func addVersionHash(to input: inout VersionHashInput) {
        super.addVersionHash(to: &input)
        // Stored values of another derivation would be wrong, so it counts.
        input.add(optional: derivationExpression.flatMap { try? ModelFormats.format(of: $0) })
    }

    override func copyState(from other: NSPropertyDescription) {
        super.copyState(from: other)
        guard let other = other as? NSDerivedAttributeDescription else { return }
        derivationExpression = other.derivationExpression
    }
}
