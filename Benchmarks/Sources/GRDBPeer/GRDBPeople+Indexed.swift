public import BenchSupport
import DataSet
import GRDB

extension GRDBPeople: IndexedReads {
    public func buildIndex() throws {
        try pool.write { database in
            try database.create(
                index: "person_department", on: "person", columns: ["departmentId"], options: .ifNotExists)
            try database.create(
                index: "person_age_name", on: "person", columns: ["age", "name"], options: .ifNotExists)
        }
    }

    public func readPages(_ starts: [PageStart], idsOnly: Bool) throws -> UInt64 {
        var last: PageStart?
        var request = PersonRecord.all()
        var sum: UInt64 = 0
        for start in starts {
            if start != last {
                last = start
                var filter = PersonRecord.Columns.age == start.age
                if let name = start.name { filter = filter && PersonRecord.Columns.name >= name }
                request = PersonRecord.filter(filter).order(PersonRecord.Columns.name).limit(Workload.pageCount)
            }
            sum &+= try pool.read { [request] database in
                if idsOnly {
                    return UInt64(try request.select(PersonRecord.Columns.id, as: Int64.self).fetchAll(database).count)
                }
                return try request.fetchAll(database).reduce(0) { $0 &+ $1.digest }
            }
        }
        return sum
    }

    public func traverse(department: Int, decodesAll: Bool) throws -> (count: Int, digest: UInt64) {
        try pool.read { database in
            let persons = PersonRecord.filter(PersonRecord.Columns.departmentId == department)
            if decodesAll {
                let records = try persons.fetchAll(database)
                return (records.count, records.reduce(0) { $0 &+ nameDigest($1.name) })
            }
            let names = try persons.select(PersonRecord.Columns.name, as: String.self).fetchAll(database)
            return (names.count, names.reduce(0) { $0 &+ nameDigest($1) })
        }
    }
}
