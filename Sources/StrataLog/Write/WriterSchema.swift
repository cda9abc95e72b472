/// The schema that rows are written in. Immutable.
final class WriterSchema: Sendable {
    let version: UInt16
    /// Ascending by entity.
    private let layouts: [WriterLayout]

    init(_ schema: NumberedSchema) {
        version = schema.version
        layouts = schema.schema.entities.map { WriterLayout($0, schemaVersion: schema.version) }
    }

    /// - Complexity: O(log n) in the number of entities.
    func layout(of entity: UInt16) -> WriterLayout? {
        var low = 0
        var high = layouts.count
        while low < high {
            let middle = (low + high) / 2
            if layouts[middle].layout.id < entity { low = middle + 1 } else { high = middle }
        }
        return low < layouts.count && layouts[low].layout.id == entity ? layouts[low] : nil
    }
}
