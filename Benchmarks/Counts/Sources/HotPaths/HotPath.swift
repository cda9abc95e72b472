import Foundation
import Strata

/// What is done again and again, each time at about the same cost.
public struct HotPath {
    public let name: String
    /// How many operations a round has.
    public let operations: Int
    /// Prepares; the result runs one round.
    public let prepare: () throws -> () throws -> Void

    /// How many objects there are where a path needs some.
    private static let count = 2_000

    public static var all: [HotPath] {
        [
            HotPath(name: "insert-save", operations: count) {
                let staff = try Staff(0)
                return {
                    try staff.context.performAndWait {
                        staff.add(count, to: nil)
                        try staff.context.save()
                    }
                }
            },
            HotPath(name: "insert-save-linked", operations: count) {
                let staff = try Staff(1)
                return {
                    try staff.context.performAndWait {
                        let team = try staff.context.fetch(NSFetchRequest<Team>(entityName: "Team")).first
                        staff.add(count, to: team)
                        try staff.context.save()
                        staff.context.reset()
                    }
                }
            },
            HotPath(name: "insert-save-few", operations: 100) {
                let staff = try Staff(0)
                return {
                    try staff.context.performAndWait {
                        staff.add(100, to: nil)
                        try staff.context.save()
                    }
                }
            },
            HotPath(name: "update-save-one", operations: 100) {
                let staff = try Staff(count)
                let members = try staff.context.performAndWait { try UncheckedMembers(staff.members()) }
                return {
                    try staff.context.performAndWait {
                        for member in members.list.prefix(100) {
                            member.age += 1
                            try staff.context.save()
                        }
                    }
                }
            },
            HotPath(name: "update-save", operations: count) {
                let staff = try Staff(count)
                let members = try staff.context.performAndWait { try UncheckedMembers(staff.members()) }
                return {
                    try staff.context.performAndWait {
                        for member in members.list { member.age += 1 }
                        try staff.context.save()
                    }
                }
            },
            HotPath(name: "delete-save", operations: count) {
                let staff = try Staff(0)
                return {
                    try staff.context.performAndWait {
                        staff.add(count, to: nil)
                        try staff.context.save()
                        for member in try staff.members() { staff.context.delete(member) }
                        try staff.context.save()
                    }
                }
            },
            reading("read-typed") { staff, members in
                var sum: Int64 = 0
                for member in members { sum &+= member.age &+ Int64(member.name.utf8.count) }
                return sum != 1
            },
            reading("read-by-key") { staff, members in
                members.allSatisfy { $0.value(forKey: "age") != nil }
            },
            reading("read-to-one") { staff, members in
                members.allSatisfy { $0.team != nil }
            },
            reading("read-to-many") { staff, members in
                guard let team = members.first?.team else { return false }
                staff.context.refresh(team, mergeChanges: false)
                return team.members.count == members.count
            },
            reading("fetch-objects") { staff, members in
                try staff.members().count == members.count
            },
            fetching("fetch-faults-and-read") { staff in
                try staff.members().reduce(0) { $0 &+ $1.age } != 1
            },
            fetching("count-by-scan") { staff in
                let request = NSFetchRequest<Member>(entityName: "Member")
                request.predicate = NSPredicate(format: "age > %d AND name BEGINSWITH %@", 50, "member")
                return try staff.context.count(for: request) > 0
            },
            fetching("fetch-sorted") { staff in
                let request = NSFetchRequest<Member>(entityName: "Member")
                request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: false)]
                return try !staff.context.fetch(request).isEmpty
            },
            requesting("fetch-by-key", 200) { catalog, number in try catalog.total(number) != nil },
            HotPath(name: "task-by-key", operations: 200) {
                let catalog = try Catalog()
                var number = 0
                return {
                    guard try catalog.totalsByTasks(from: number, count: 200) == 200 else {
                        throw CocoaError(.coderInvalidValue)
                    }
                    number += 200
                }
            },
            reading("read-large-text") { staff, members in
                guard let team = members.first?.team else { return false }
                var sum = 0
                for _ in members { sum &+= team.charter?.utf8.count ?? 0 }
                return sum == members.count * Staff.charterBytes
            },
            requesting("fetch-list", 50) { catalog, number in try catalog.page(number) > 0 },
            HotPath(name: "parse-predicate", operations: 100) {
                return {
                    for number in 0..<100 {
                        _ = try NSPredicate.parse(
                            "age > \(number) AND (name BEGINSWITH 'm' OR team.title IN {'a', 'b'})")
                    }
                }
            },
        ]
    }

    /// A path over objects whose values are there.
    private static func reading(_ name: String, _ body: @escaping (Staff, [Member]) throws -> Bool) -> HotPath {
        HotPath(name: name, operations: count) {
            let staff = try Staff(count)
            let members = try staff.context.performAndWait { try UncheckedMembers(staff.members()) }
            return {
                try staff.context.performAndWait {
                    guard try body(staff, members.list) else { throw CocoaError(.coderInvalidValue) }
                }
            }
        }
    }

    /// A path of requests that differ in their constants, each in a context of its own.
    private static func requesting(
        _ name: String, _ operations: Int, _ body: @escaping (Catalog, Int) throws -> Bool
    ) -> HotPath {
        HotPath(name: name, operations: operations) {
            let catalog = try Catalog()
            var number = 0
            return {
                for _ in 0..<operations {
                    number += 1
                    guard try body(catalog, number) else { throw CocoaError(.coderInvalidValue) }
                }
            }
        }
    }

    /// A path that begins with a context without objects.
    private static func fetching(_ name: String, _ body: @escaping (Staff) throws -> Bool) -> HotPath {
        HotPath(name: name, operations: count) {
            let staff = try Staff(count)
            return {
                try staff.context.performAndWait {
                    staff.context.reset()
                    guard try body(staff) else { throw CocoaError(.coderInvalidValue) }
                }
            }
        }
    }
}

/// Objects that are only used on their context's queue.
private struct UncheckedMembers: @unchecked Sendable {
    let list: [Member]

    init(_ list: [Member]) { self.list = list }
}
