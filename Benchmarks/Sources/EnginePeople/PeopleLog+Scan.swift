public import BenchSupport
import CBenchSupport
import DataSet
import StrataLog

extension PeopleLog {
    /// Typed loops over the columns that the query needs; no row is made.
    public func scan(_ query: ScanQuery) throws -> UInt64? {
        switch query {
        case .predicate: try countMatches()
        case .groupSum: try sumByDepartment()
        case .numbers, .folded, .sorted: nil
        }
    }

    private func countMatches() throws -> UInt64 {
        var hits: UInt64 = 0
        try forEachBlock { block, rows in
            let ages = try block.column(PeopleSchema.Slot.age)
            let bios = try block.column(PeopleSchema.Slot.bio)
            for row in rows where ages.int16(row) >= 40 {
                let bio = bios.bytes(row)
                if bench_contains(bio.baseAddress, bio.count, "delta", 5) { hits += 1 }
            }
        }
        return hits
    }

    private func sumByDepartment() throws -> UInt64 {
        var sums = [Double](repeating: 0, count: PersonRow.departmentCount + 1)
        var counts = [Int](repeating: 0, count: PersonRow.departmentCount + 1)
        try forEachBlock { block, rows in
            let departments = try block.column(PeopleSchema.Slot.department)
            let scores = try block.column(PeopleSchema.Slot.score)
            for row in rows {
                let department = Int(departments.reference(row).key)
                sums[department] += scores.double(row)
                counts[department] += 1
            }
        }
        return groupSumCheck(total: sums.reduce(0, +), groups: counts.count { $0 > 0 })
    }
}
