import Foundation
import StrataModelFile
import StrataSupport

/// An attribute made of others: its value is a dictionary from the elements' names to their values.
///
/// Thread rule and `@unchecked Sendable`: as for ``NSPropertyDescription``.
///
/// ```swift
/// let size = NSCompositeAttributeDescription()
/// size.name = "size"
/// size.elements = [width, height]
/// ```
open class NSCompositeAttributeDescription: NSAttributeDescription, @unchecked Sendable {
    /// Composites in composites may be nested this deep.
    static let maximumDepth = 16

    /// The attributes that the value consists of; composites again if need be.
    open var elements: [NSAttributeDescription] = [] {
        willSet {
            assertMutable()
            for element in elements where !newValue.contains(where: { $0 === element }) {
                element.owningComposite = nil
            }
        }
        didSet {
            for element in elements {
                element.owningComposite = self
            }
            guard depth() != nil else {
                programmerError(
                    "NSCompositeAttributeDescription '\(name)'",
                    "Composite '\(name)' contains itself or nests over \(Self.maximumDepth) deep", "Use fewer levels")
            }
        }
    }

    /// Creates a composite without elements; its type is ``NSAttributeType/compositeAttributeType``.
    public required init() {
        super.init()
        attributeType = .compositeAttributeType
    }

    /// A text for logs and for debugging; not to be parsed.
    open override var description: String {
        super.description + ", elements (\(elements.map(\.name).joined(separator: ", ")))"
    }

    /// 1 for a composite of simple attributes.
    ///
    /// - Returns: nil if the depth exceeds ``maximumDepth``, which a composite that contains itself does.
    final func depth(below limit: Int = maximumDepth) -> Int? {
        guard limit > 0 else { return nil }
        var deepest = 0
        for case let element as NSCompositeAttributeDescription in elements {
            guard let depth = element.depth(below: limit - 1) else { return nil }
            deepest = max(deepest, depth)
        }
        return deepest + 1
    }

    override func addVersionHash(to input: inout VersionHashInput) {
        super.addVersionHash(to: &input)
        input.add(UInt(elements.count))
        for element in elements.sorted(by: { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }) {
            element.addVersionHash(to: &input)
        }
    }

    override func copyState(from other: NSPropertyDescription) {
        super.copyState(from: other)
        guard let other = other as? NSCompositeAttributeDescription else { return }
        elements = other.elements.compactMap { $0.copy() as? NSAttributeDescription }
    }
}
