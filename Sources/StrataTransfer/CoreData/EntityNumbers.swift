import Foundation
import Strata

/// The numbers that Core Data gives to entities: each root after the other by name, without regard to capitals, and
/// behind each entity what inherits from it.
struct EntityNumbers {
    private(set) var numbers: [String: Int64] = [:]
    /// In the order of their numbers.
    private(set) var ordered: [RowLayouts.Rows] = []

    /// - Parameter known: the numbers that the entities had in the file that the store came from.
    init(_ layouts: RowLayouts, known: [String: Int64]?) {
        if let known, layouts.rows.allSatisfy({ known[$0.name] != nil }),
            Set(layouts.rows.compactMap { known[$0.name] }).count == layouts.rows.count
        {
            numbers = known
            ordered = layouts.rows.sorted { (known[$0.name] ?? 0) < (known[$1.name] ?? 0) }
            return
        }
        let sorted = layouts.rows.sorted { ($0.name.lowercased(), $0.name) < ($1.name.lowercased(), $1.name) }
        for root in sorted where root.entity.superentity == nil { add(root, sorted) }
    }

    private mutating func add(_ rows: RowLayouts.Rows, _ all: [RowLayouts.Rows]) {
        numbers[rows.name] = Int64(ordered.count + 1)
        ordered.append(rows)
        for child in all where child.entity.superentity === rows.entity { add(child, all) }
    }

    func number(_ name: String?) -> Int64 { name.flatMap { numbers[$0] } ?? 0 }

    /// An entity and what inherits from it.
    func family(_ entity: NSEntityDescription) -> [RowLayouts.Rows] {
        ordered.filter { rows in
            var current: NSEntityDescription? = rows.entity
            while let candidate = current, candidate !== entity { current = candidate.superentity }
            return current != nil
        }
    }
}
