import Foundation
import Strata
import StrataLog

/// The keys in a row of a join table.
private struct LinkedKeys: Equatable {
    var owner: Int64 = 0
    var member: Int64 = 0

    func isOtherSide(of other: LinkedKeys) -> Bool { owner == other.member && member == other.owner }
}

/// Writes the rows of a join table into a store.
struct LinkImporter {
    let file: CoreDataFile
    let planner: ImportPlanner
    let builder: StoreBuilder
    let account: ImportAccount

    func insert(_ links: RowLayouts.Links, _ join: JoinTable, each: () throws -> Void) throws {
        guard let owner = planner.layouts.rows(named: links.ownerName)?.entity,
            let member = links.relationship.destinationEntity
        else {
            return
        }
        try checkReferences(join, owner, member)
        let owners = numbers(owner)
        let members = numbers(member)
        let statement = try file.database.prepare(try query(join, links, owner, member))
        func problem(_ what: String) -> TransferError {
            TransferError(
                "\(file.url.path): \(join.table.name), the link of \(statement.integer(0) ?? 0) and "
                    + "\(statement.integer(2) ?? 0): \(what)")
        }
        var key: UInt64 = 0
        var last = LinkedKeys()
        while try statement.step() {
            guard let first = statement.integer(1).flatMap({ owners[$0] }),
                let second = statement.integer(3).flatMap({ members[$0] })
            else { throw problem("the relationship cannot link objects of their entities") }
            guard let ownerKey = statement.integer(0), let memberKey = statement.integer(2), ownerKey > 0,
                memberKey > 0,
                max(ownerKey, memberKey) < 1 << 48
            else { throw problem("a key is out of range") }
            let keys = LinkedKeys(owner: ownerKey, member: memberKey)
            defer { last = keys }
            guard keys != last else { throw problem("it is there twice") }
            // Core Data keeps the link of a relationship that is its own inverse from both sides.
            if links.inverse === links.relationship, keys.isOtherSide(of: last) { continue }
            key += 1
            var ends = [
                StoreBuilder.reference(entity: first, key: UInt64(ownerKey)),
                StoreBuilder.reference(entity: second, key: UInt64(memberKey)),
            ]
            // A link of a relationship that is its own inverse has the lesser end first.
            if links.inverse === links.relationship, ends[1] < ends[0] { ends.swapAt(0, 1) }
            let writer = try builder.beginRow(entity: links.number, root: links.number, key: key)
            writer.set(0, ends[0])
            writer.set(1, ends[1])
            for column in 4...5 {
                guard let place = statement.isNull(column) ? 0 : statement.integer(column) else {
                    throw problem("a place in an order is no integer")
                }
                writer.set(column - 2, OrderKeys.position(place))
            }
            writer.endRow()
            try each()
        }
    }

    /// The store's numbers of an entity and what inherits from it, by number in the file.
    private func numbers(_ entity: NSEntityDescription) -> [Int64: UInt16] {
        Dictionary(
            planner.family(entity).map { (planner.number($0.name), $0.number) }, uniquingKeysWith: { one, _ in one })
    }

    private func column(_ join: JoinTable, _ name: String) -> String {
        "j." + SQLiteFile.quoted(join.table.columns[name]?.name ?? name)
    }

    /// A link to an object that is not there is none.
    private func checkReferences(
        _ join: JoinTable, _ owner: NSEntityDescription, _ member: NSEntityDescription
    ) throws {
        let (first, second) = (column(join, join.owner), column(join, join.member))
        let statement = try file.database.prepare(
            "SELECT count(*), min(\(first)), min(\(second)) FROM \(SQLiteFile.quoted(join.table.name)) j "
                + "NOT INDEXED WHERE NOT EXISTS (SELECT 1 FROM \(SQLiteFile.quoted(try planner.table(owner).name)) o "
                + "WHERE o.Z_PK = \(first)) OR NOT EXISTS (SELECT 1 FROM "
                + "\(SQLiteFile.quoted(try planner.table(member).name)) m WHERE m.Z_PK = \(second))")
        guard try statement.step(), let count = statement.integer(0), count > 0 else { return }
        try account.omit(
            "\(join.table.name): links of objects that are not there", count: Int(count),
            example: "one of \(statement.integer(1) ?? 0) and \(statement.integer(2) ?? 0)")
    }

    private func query(
        _ join: JoinTable, _ links: RowLayouts.Links, _ owner: NSEntityDescription, _ member: NSEntityDescription
    ) throws -> String {
        let quoted = SQLiteFile.quoted
        let (ownerKey, memberKey) = (column(join, join.owner), column(join, join.member))
        let (ownerTable, memberTable) = (try planner.table(owner).name, try planner.table(member).name)
        let orders = [join.memberOrder, join.ownerOrder].map { $0.map { column(join, $0) } ?? "0" }
        // An index of a damaged file may be without what the table has.
        var sql =
            "SELECT o.Z_PK, o.Z_ENT, m.Z_PK, m.Z_ENT, \(orders[0]), \(orders[1]) FROM \(quoted(join.table.name)) j "
            + "NOT INDEXED CROSS JOIN \(quoted(ownerTable)) o ON o.Z_PK = \(ownerKey) "
            + "CROSS JOIN \(quoted(memberTable)) m ON m.Z_PK = \(memberKey) ORDER BY "
        // What is there twice, or from both sides, comes one after the other.
        if links.inverse === links.relationship {
            sql += "min(\(ownerKey), \(memberKey)), max(\(ownerKey), \(memberKey)), "
        }
        sql += "\(ownerKey), \(memberKey)"
        return sql
    }
}
