import Foundation
import Strata

/// A table with the links of a relationship that is to-many at both ends. Columns by their names in capitals.
struct JoinTable {
    let table: FileTable
    /// The columns with the owner's and the other object's key.
    let owner: String
    let member: String
    /// The place of the member in the owner's order, and the other way round.
    let memberOrder: String?
    let ownerOrder: String?

    /// All columns that are read, as ``TableAccounting`` wants them.
    var taken: [String: Set<Int64>] {
        let columns = [owner, member, memberOrder, ownerOrder].compactMap { $0 }
        return Dictionary(columns.map { ($0, []) }, uniquingKeysWith: { one, _ in one })
    }
}

/// Finds the join tables of a file.
///
/// A join table is called by the number of an entity and one of the two relationships; each column by the number of the
/// entity whose keys it has and the relationship that leads there. No two columns of a file have one name: the second
/// one has a number at its end, in whatever table it is.
struct JoinTables {
    private struct Candidate {
        let links: Int
        let table: String
        let found: JoinTable
        /// How far the names are from what they are expected to be.
        let distance: Int
    }

    private let planner: ImportPlanner

    init(_ planner: ImportPlanner) { self.planner = planner }

    /// The table of each relationship; nil for one that is transient and has none.
    ///
    /// - Throws: ``TransferError`` when one cannot be found, or there are several that could be it.
    func find(_ links: [RowLayouts.Links]) throws -> [JoinTable?] {
        var candidates: [Candidate] = []
        for (index, links) in links.enumerated() {
            for (name, table) in planner.file.tables where NumberedName.parts(name) != nil {
                candidates += self.candidates(links, index, name, table)
            }
        }
        var found = [JoinTable?](repeating: nil, count: links.count)
        var used: Set<String> = []
        var done: Set<Int> = []
        for distance in Set(candidates.map(\.distance)).sorted() {
            // What fits equally well is looked at together: no table is had by two, and none is had by chance.
            let next = candidates.filter {
                $0.distance == distance && !done.contains($0.links) && !used.contains($0.table)
            }
            for (index, group) in Dictionary(grouping: next, by: \.links) {
                guard group.count == 1 else { throw ambiguous(links[index], group) }
                guard used.insert(group[0].table).inserted else { throw ambiguous(links[index], group) }
                found[index] = group[0].found
                done.insert(index)
            }
        }
        for (index, links) in links.enumerated() where found[index] == nil {
            if links.relationship.isTransient || links.inverse?.isTransient == true { continue }
            throw TransferError(
                "\(planner.file.url.path): there is no join table for \(links.ownerName).\(links.relationship.name): "
                    + "the model is not the one that the file was written with")
        }
        return found
    }

    private func ambiguous(_ links: RowLayouts.Links, _ candidates: [Candidate]) -> TransferError {
        TransferError(
            "\(planner.file.url.path): the join table for \(links.ownerName).\(links.relationship.name) could be "
                + candidates.map { "\($0.table) (\($0.found.owner), \($0.found.member))" }.sorted().joined(
                    separator: " or "))
    }

    private func candidates(
        _ links: RowLayouts.Links, _ index: Int, _ name: String, _ table: FileTable
    ) -> [Candidate] {
        let forward = links.relationship.name.uppercased()
        let back = links.inverse?.name.uppercased()
        guard let rest = NumberedName.parts(name)?.rest,
            let nameDistance = [forward, back].compactMap({ $0.flatMap { Self.distance(rest, from: $0) } }).min()
        else { return [] }
        let owner = planner.layouts.rows(named: links.ownerName)?.entity
        let members = columns(table, forward, links.relationship.destinationEntity)
        let owners: [(column: String, distance: Int)]
        if links.inverse === links.relationship {
            owners = table.columns["REFLEXIVE"] == nil ? [] : [("REFLEXIVE", 0)]
        } else {
            owners = columns(table, back, owner)
        }
        var found: [Candidate] = []
        for member in members {
            for owner in owners where owner.column != member.column {
                let keys = Set(table.columns.filter { $0.value.keyPlace > 0 }.keys)
                // Without it links could be there twice.
                guard keys == [owner.column, member.column] else { continue }
                found.append(
                    Candidate(
                        links: index, table: name,
                        found: JoinTable(
                            table: table, owner: owner.column, member: member.column,
                            memberOrder: links.relationship.isOrdered ? order(member.column, table) : nil,
                            ownerOrder: links.inverse?.isOrdered == true ? order(owner.column, table) : nil),
                        distance: nameDistance + member.distance + owner.distance))
            }
        }
        return found
    }

    /// The column with places in an order.
    private func order(_ column: String, _ table: FileTable) -> String? {
        let name = "Z_FOK_" + column.dropFirst(2)
        return table.columns[name] == nil ? nil : name
    }

    /// The columns that can have the keys of an entity's objects, to which a relationship leads; of any, where that has
    /// no name.
    private func columns(
        _ table: FileTable, _ relationship: String?, _ entity: NSEntityDescription?
    ) -> [(column: String, distance: Int)] {
        let numbers = lineage(entity)
        return table.columns.keys.compactMap { column in
            guard let (number, rest) = NumberedName.parts(column), let generations = numbers[number] else { return nil }
            guard let relationship else { return (column, generations) }
            return Self.distance(rest, from: relationship).map { (column, $0 + generations) }
        }
    }

    /// 0 for a name as it is, 1 for one with a number of one digit at its end, 3 more for each further digit; nil for
    /// another.
    ///
    /// "TITLE11" may be the twelfth "TITLE" or the second "TITLE1": the fewer have to have the name, the likelier.
    private static func distance(_ name: String, from expected: String) -> Int? {
        guard name.hasPrefix(expected) else { return nil }
        let rest = name.utf8.dropFirst(expected.utf8.count)
        if rest.isEmpty { return 0 }
        return rest.first != 0x30 && rest.allSatisfy { (0x30...0x39).contains($0) } ? 3 * rest.count - 2 : nil
    }

    /// More than numbers at the ends of names add up to.
    private static let otherEntity = 1_000

    /// The numbers of an entity, of what it inherits from and of what inherits from it: 0 for itself,
    /// ``otherEntity`` for others. In the file of a renamed or moved relationship it may be another one's.
    private func lineage(_ entity: NSEntityDescription?) -> [Int64: Int] {
        guard let entity else { return [:] }
        var numbers: [Int64: Int] = [:]
        for rows in planner.family(entity) { numbers[planner.number(rows.name)] = Self.otherEntity }
        var parent = entity.superentity
        while let current = parent {
            numbers[planner.number(current.name ?? "")] = Self.otherEntity
            parent = current.superentity
        }
        numbers[planner.number(entity.name ?? "")] = 0
        return numbers
    }
}
