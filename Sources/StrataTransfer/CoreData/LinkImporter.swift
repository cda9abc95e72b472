import Foundation
import Strata
import StrataLog

/// Writes the rows of join tables into a store.
struct LinkImporter {
    let file: CoreDataFile
    let planner: ImportPlanner
    let builder: StoreBuilder

    /// The table of a relationship.
    private struct JoinTable {
        var name: String
        /// The columns with the owner's and the other object's key.
        var owner: String
        var member: String
        /// The place of the member in the owner's order, and the other way round.
        var memberOrder: String?
        var ownerOrder: String?
    }

    func insert(_ links: RowLayouts.Links, each: () throws -> Void) throws {
        let table = try find(links)
        guard let owner = planner.layouts.rows(named: links.ownerName)?.entity,
            let member = links.relationship.destinationEntity
        else {
            return
        }
        let owners = numbers(owner)
        let members = numbers(member)
        let statement = try file.database.prepare(query(table, links, owner, member))
        var key: UInt64 = 0
        while try statement.step() {
            guard let first = owners[statement.integer(1)], let second = members[statement.integer(3)] else {
                throw TransferError("\(file.url.path): \(table.name) links objects that the relationship cannot link")
            }
            let (ownerKey, memberKey) = (statement.integer(0), statement.integer(2))
            guard ownerKey > 0, memberKey > 0, max(ownerKey, memberKey) < 1 << 48 else {
                throw TransferError("\(file.url.path): \(table.name) has a key that is out of range")
            }
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
            writer.set(2, OrderKeys.position(statement.integer(4)))
            writer.set(3, OrderKeys.position(statement.integer(5)))
            writer.endRow()
            try each()
        }
    }

    /// The store's numbers of an entity and what inherits from it, by number in the file.
    private func numbers(_ entity: NSEntityDescription) -> [Int64: UInt16] {
        Dictionary(
            planner.family(entity).map { (planner.number($0.name), $0.number) }, uniquingKeysWith: { one, _ in one })
    }

    private func query(
        _ table: JoinTable, _ links: RowLayouts.Links, _ owner: NSEntityDescription, _ member: NSEntityDescription
    ) -> String {
        let quoted = SQLiteFile.quoted
        let (ownerKey, memberKey) = (quoted(table.owner), quoted(table.member))
        let ownerTable = quoted(ColumnNames.table(ImportPlanner.root(owner).name ?? ""))
        let memberTable = quoted(ColumnNames.table(ImportPlanner.root(member).name ?? ""))
        let orders = [table.memberOrder, table.ownerOrder].map { $0.map { "j." + quoted($0) } ?? "0" }
        // A link to an object that is not there is none.
        var sql =
            "SELECT o.Z_PK, o.Z_ENT, m.Z_PK, m.Z_ENT, \(orders[0]), \(orders[1]) FROM \(quoted(table.name)) j "
            + "JOIN \(ownerTable) o ON o.Z_PK = j.\(ownerKey) JOIN \(memberTable) m ON m.Z_PK = j.\(memberKey)"
        if links.inverse === links.relationship {
            sql +=
                " WHERE j.\(ownerKey) <= j.\(memberKey) OR NOT EXISTS (SELECT 1 FROM \(quoted(table.name)) r "
                + "WHERE r.\(ownerKey) = j.\(memberKey) AND r.\(memberKey) = j.\(ownerKey))"
        }
        return sql
    }

    // MARK: Finding the table

    /// A join table is called by the number of an entity and one of the two relationships; each column by the number
    /// of the entity whose keys it has and the relationship that leads there.
    private func find(_ links: RowLayouts.Links) throws -> JoinTable {
        let name = links.relationship.name.uppercased()
        let back = links.inverse?.name.uppercased()
        let owners = lineage(planner.layouts.rows(named: links.ownerName)?.entity)
        let members = lineage(links.relationship.destinationEntity)
        for (table, columns) in file.tables.sorted(by: { $0.key < $1.key }) {
            guard let rest = ColumnNames.numbered(table)?.rest, rest == name || rest == back else { continue }
            let numbered = columns.compactMap { column in
                ColumnNames.numbered(column).map { (column: column, number: $0.number, rest: $0.rest) }
            }
            guard let member = numbered.first(where: { $0.rest == name && members.contains($0.number) }) else {
                continue
            }
            let owner: String?
            if links.inverse === links.relationship {
                owner = columns.contains("REFLEXIVE") ? "REFLEXIVE" : nil
            } else if let back {
                owner =
                    numbered.first {
                        $0.rest == back && owners.contains($0.number) && $0.column != member.column
                    }?.column
            } else {
                owner = numbered.first { $0.column != member.column && owners.contains($0.number) }?.column
            }
            guard let owner else { continue }
            func order(_ column: String) -> String? {
                let name = "Z_FOK_" + column.dropFirst(2)
                return columns.contains(name) ? name : nil
            }
            return JoinTable(
                name: table, owner: owner, member: member.column,
                memberOrder: links.relationship.isOrdered ? order(member.column) : nil,
                ownerOrder: links.inverse?.isOrdered == true ? order(owner) : nil)
        }
        throw TransferError(
            "\(file.url.path): there is no join table for \(links.ownerName).\(links.relationship.name): "
                + "the model is not the one that the file was written with")
    }

    /// The numbers of an entity, of what it inherits from and of what inherits from it.
    private func lineage(_ entity: NSEntityDescription?) -> Set<Int64> {
        guard let entity else { return [] }
        var numbers = Set(planner.family(entity).map { planner.number($0.name) })
        var parent = entity.superentity
        while let current = parent {
            numbers.insert(planner.number(current.name ?? ""))
            parent = current.superentity
        }
        return numbers
    }
}
