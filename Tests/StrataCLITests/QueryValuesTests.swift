import CoreData
import Foundation
import Testing

/// What `strata query` computes of objects and groups.
@Suite(.serialized) struct QueryValuesTests {
    /// Red has Ann of 31 and Bea of 20, Blue has Bob of 40; Cleo of 50 is in no team.
    private func filled() throws -> CommandFixture {
        let fixture = try CommandFixture()
        try fixture.save { context in
            let red = fixture.insert("Team", ["title": "Red, \"hot\""], context)
            let blue = fixture.insert("Team", ["title": "Blue"], context)
            fixture.insert("Person", ["name": "Ann", "age": 31, "active": true, "team": red], context)
            fixture.insert("Person", ["name": "Bea", "age": 20, "active": false, "team": red], context)
            fixture.insert("Person", ["name": "Bob", "age": 40, "active": true, "team": blue], context)
            fixture.insert("Boss", ["name": "Cleo", "age": 50], context)
        }
        return fixture
    }

    /// Predicate format and SQL say the same.
    @Test(arguments: [
        ["count:(SELF)", "sum:(age)", "average:(age)", "max:(age)"],
        ["count(*)", "sum(age)", "avg(age)", "max(age)"],
        ["COUNT( * )", "SUM( age )", "Avg(age)", "MAX(age)"],
    ]) func groupsHaveAggregates(_ functions: [String]) throws {
        let fixture = try filled()
        let select = (["team.title"] + functions).joined(separator: ", ")
        let result = try fixture.run(
            "query", "Person", "--group-by", "team.title", "--select", select, "--sort=-\(functions[0]),team.title",
            "-f", "json")
        #expect(result.code == 0, "\(result.messages)")
        #expect(result.records.map { $0["team.title"] as? String } == ["Red, \"hot\"", nil, "Blue"])
        let red = result.record(0)
        #expect(functions.map { (red[$0] as? NSNumber)?.doubleValue } == [2, 51, 25.5, 31])
    }

    @Test func groupsAreChosenSortedAndCounted() throws {
        let fixture = try filled()
        let named = ["--select", "team.title, count(*) AS people, sum(age) as years", "--group-by", "team.title"]
        func titles(_ more: String...) throws -> [String?] {
            let result = try fixture.run("query", ["Person"] + named + more + ["-f", "ndjson"])
            #expect(result.code == 0, "\(result.messages)")
            return result.lines.map {
                ((try? JSONSerialization.jsonObject(with: Data($0.utf8))) as? [String: Any])?["team.title"] as? String
            }
        }
        #expect(try titles("--having", "people > 1") == ["Red, \"hot\""])
        #expect(try titles("--having", "sum(age) < 51 AND count(*) == 1", "--sort=-years") == [nil, "Blue"])
        #expect(try titles("--having", "team.title == 'count(*)'") == [])
        #expect(try titles("--sort=-years", "--limit", "1") == ["Red, \"hot\""])
        #expect(try titles("--sort=years", "--offset", "2") == ["Red, \"hot\""])
        let plain = try fixture.run("query", "Person", "age > 25", "--group-by", "active", "--sort=active", "-f", "csv")
        #expect(plain.lines == ["active,count(*)", ",1", "true,2"])
        let expression = try fixture.run(
            "query", "Person", "--group-by", "age / 30", "--select", "age / 30, count(*)", "-f", "json")
        #expect(expression.code == 0, "\(expression.messages)")
        #expect(expression.records.compactMap { $0["count(*)"] as? Int }.reduce(0, +) == 4)
    }

    @Test func valuesOfObjectsAndOfAll() throws {
        let fixture = try filled()
        let all = try fixture.run(
            "query", "Person", "--select", "count(*), min(age), count(distinct team)", "-f", "json")
        #expect(all.code == 0, "\(all.messages)")
        #expect(all.records.count == 1)
        #expect(all.record(0)["count(*)"] as? Int == 4 && all.record(0)["min(age)"] as? Int == 20)
        #expect(all.record(0)["count(distinct team)"] as? Int == 2)
        let rows = try fixture.run(
            "query", "Person", "age < 45", "--select", "name, team.title, active, age * 2 AS double", "--sort",
            "-double",
            "-f", "json")
        #expect(rows.records.map { $0["name"] as? String } == ["Bob", "Ann", "Bea"])
        #expect(rows.record(1)["double"] as? Int == 62 && rows.record(1)["active"] as? Bool == true)
        let distinct = try fixture.run("query", "Person", "--select", "team.title", "--distinct", "-f", "json")
        #expect(distinct.records.count == 3)
        let explained = try fixture.run("query", "Person", "--group-by", "team.title", "--explain", "-f", "json")
        #expect(explained.code == 0 && (explained.json as? [String: Any])?["path"] is String, "\(explained)")
        let past = try fixture.run("query", "Person", "--select", "count(*)", "--at", "0", "-f", "json")
        #expect(past.record(0)["count(*)"] as? Int == 0)
    }

    @Test(arguments: [
        ["--select", "nothing"], ["--select", "sum:("], ["--select", ","], ["--select", "name", "--group-by", "age"],
        ["--select", "age * 2 AS name"], ["--group-by", "team", "--having", "nothing > 1"],
        ["--group-by", "sum(age)"], ["--select", "name", "--sort", "nothing"],
    ]) func requestsThatMakeNoSenseAreErrors(_ arguments: [String]) throws {
        let fixture = try filled()
        let result = try fixture.run("query", ["Person"] + arguments)
        #expect(result.code == 1 && result.output.isEmpty, "\(result)")
        #expect(result.messages.hasPrefix("Error: ") && result.messages.split(separator: "\n").count == 1, "\(result)")
    }

    @Test func optionsThatNeedOthersAreRefused() throws {
        let fixture = try filled()
        #expect(try fixture.run("query", "Person", "--having", "age > 1").code == 64)
        #expect(try fixture.run("query", "Person", "--distinct").code == 64)
        #expect(try fixture.run("query", "Person", "--offset=-1").code == 64)
    }
}
