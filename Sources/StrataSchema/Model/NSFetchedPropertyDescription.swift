import Foundation
import StrataModelFile

/// A property whose value is the result of a fetch request. Its request may refer to `$FETCH_SOURCE`, the object, and
/// `$FETCHED_PROPERTY`, this description.
///
/// Thread rule and `@unchecked Sendable`: as for ``NSPropertyDescription``.
open class NSFetchedPropertyDescription: NSPropertyDescription, @unchecked Sendable {
    /// The request, in the form that models keep; `fetchRequest` converts from and to it. In a model that is in use it
    /// may be changed while nobody else reads it: values that are fetched from then on follow.
    package final var template: FetchRequestTemplate?

    /// A text for logs and for debugging; not to be parsed.
    open override var description: String {
        super.description + ", fetchRequest \(template.map { "\($0)" } ?? "(null)")"
    }

    override func addVersionHash(to input: inout VersionHashInput) {
        input.add(byte: 3)
        super.addVersionHash(to: &input)
    }

    override func copyState(from other: NSPropertyDescription) {
        super.copyState(from: other)
        guard let other = other as? NSFetchedPropertyDescription else { return }
        template = other.template
    }
}
