import Foundation

extension NSManagedObject {
    final func compositeValue(_ composite: CompositeShape) -> [String: Any]? {
        composite.dictionary { boxedValue($0) }
    }

    final func setCompositeValue(_ value: Any?, _ composite: CompositeShape) {
        composite.assign(value) { slot, element in setBoxedValue(element, slot: slot) }
    }

    /// Puts the values of composites' elements in `values` together under the composites' own names.
    final func gatherComposites(_ values: inout [String: Any], _ value: (Int) -> Any?) {
        guard shape.hasComposites else { return }
        let elements = values.keys.filter { $0.contains(".") }
        for element in elements { values[element] = nil }
        for name in Set(elements.compactMap { $0.split(separator: ".").first.map(String.init) }) {
            guard case .composite(let composite)? = shape.property(name) else { continue }
            values[name] = composite.dictionary(value) ?? NSNull()
        }
    }
}
