import Foundation
import StrataTestKit

/// A model as Apple's compiler writes it: teams with ordered members, and leaders who are persons.
enum AppleArchive {
    /// - Parameter defaultAge: a text in the place of the number that persons have as their age at first.
    static func model(inheritedToo: Bool = false, defaultAge: String? = nil) -> [UInt8] {
        let writer = ArchiveWriter()
        let (team, person, leader) = (writer.reserve(), writer.reserve(), writer.reserve())
        let (members, teamOf) = (writer.reserve(), writer.reserve())
        func attribute(_ name: String, _ type: Int64, _ more: [(String, ArchiveWriter.Node)] = []) -> ArchiveWriter.Node
        {
            writer.object(
                "NSAttributeDescription",
                [
                    ("NSPropertyName", writer.string(name)), ("NSAttributeType", .integer(type)),
                    ("NSIsOptional", .bool(true)), ("NSRenamingIdentifier", writer.string(name)),
                ] + more)
        }
        func keyPath(_ name: String) -> ArchiveWriter.Node {
            let path = writer.object("NSKeyPathSpecifierExpression", [("NSKeyPath", writer.string(name))])
            return writer.object(
                "NSKeyPathExpression",
                [
                    ("NSOperand", writer.object("NSSelfExpression", [])),
                    ("NSSelectorName", writer.string("valueForKey:")),
                    ("NSArguments", writer.list([path])),
                ])
        }
        func constant(_ node: ArchiveWriter.Node) -> ArchiveWriter.Node {
            writer.object("NSConstantValueExpression", [("NSConstantValue", node)])
        }
        func comparison(
            _ left: ArchiveWriter.Node, _ type: Int64, _ right: ArchiveWriter.Node, options: Int64 = 0
        ) -> ArchiveWriter.Node {
            let relation = writer.object(
                "NSComparisonPredicateOperator",
                [("NSOperatorType", .integer(type)), ("NSModifier", .integer(0)), ("NSOptions", .integer(options))])
            return writer.object(
                "NSComparisonPredicate",
                [("NSLeftExpression", left), ("NSRightExpression", right), ("NSPredicateOperator", relation)])
        }
        let name = attribute(
            "name", 700,
            [
                (
                    "NSValidationPredicates",
                    writer.list([
                        comparison(keyPath("length"), 3, constant(.integer(2))),
                        comparison(keyPath("length"), 1, constant(.integer(20))),
                        comparison(writer.object("NSSelfExpression", []), 8, constant(writer.string("A")), options: 1),
                    ])
                ),
                (
                    "NSValidationWarnings",
                    writer.list([.integer(1670), .integer(1660), writer.string("Names begin with an A.")])
                ),
                ("NSFlagsKey", .integer(16)),
            ])
        let age = attribute(
            "age", 100,
            [
                ("NSDefaultValue", defaultAge.map { writer.string($0) } ?? .integer(18)),
                ("NSUserInfo", writer.dictionary([("a", writer.string("b"))])),
            ])
        writer.fill(
            members, "NSRelationshipDescription",
            [
                ("NSPropertyName", writer.string("members")), ("NSDestinationEntity", .uid(person)),
                ("NSInverseRelationship", .uid(teamOf)), ("NSMaxCount", .integer(0)), ("NSMinCount", .integer(0)),
                ("NSDeleteRule", .integer(2)), ("NSIsOrdered", .bool(true)), ("NSIsOptional", .bool(true)),
                ("NSEntity", .uid(team)),
            ])
        writer.fill(
            teamOf, "NSRelationshipDescription",
            [
                ("NSPropertyName", writer.string("team")), ("NSDestinationEntity", .uid(team)),
                ("NSInverseRelationship", .uid(members)), ("NSMaxCount", .integer(1)), ("NSMinCount", .integer(0)),
                ("NSDeleteRule", .integer(1)), ("NSIsOptional", .bool(true)), ("NSEntity", .uid(person)),
            ])
        func entity(
            _ place: Int, _ name: String, parent: Int = 0, _ properties: [(String, ArchiveWriter.Node)],
            _ more: [(String, ArchiveWriter.Node)] = []
        ) {
            writer.fill(
                place, "NSEntityDescription",
                [
                    ("NSEntityName", writer.string(name)), ("NSClassNameForEntity", writer.string("App.\(name)")),
                    ("NSSuperentity", .uid(parent)), ("NSProperties", writer.dictionary(properties)),
                ] + more)
        }
        let element = writer.object(
            "NSFetchIndexElementDescription",
            [("NSPropertyName", writer.string("name")), ("NSAscending", .bool(false))])
        let index = writer.object(
            "NSFetchIndexDescription",
            [("NSIndexName", writer.string("byName")), ("NSIndexElements", writer.list([element]))])
        entity(team, "Team", [("title", attribute("title", 700)), ("members", .uid(members))])
        let own: [(String, ArchiveWriter.Node)] = [("name", name), ("age", age), ("team", .uid(teamOf))]
        entity(
            person, "Person", own,
            [
                ("NSFetchIndexDescriptions", writer.list([index])),
                ("NSUniqueTuples", writer.list([writer.list([writer.string("name")])])),
            ])
        entity(leader, "Leader", parent: person, (inheritedToo ? own : []) + [("since", attribute("since", 900))])
        let sort = writer.object("NSSortDescriptor", [("NSKey", writer.string("age")), ("NSAscending", .bool(false))])
        let request = writer.object(
            "NSFetchRequest",
            [
                ("NSEntity", .uid(person)), ("NSSortDescriptors", writer.list([sort])), ("NSFetchLimit", .integer(5)),
                (
                    "NSPredicate",
                    comparison(
                        keyPath("age"), 2, writer.object("NSVariableExpression", [("NSVariable", writer.string("AGE"))])
                    )
                ),
            ])
        let root = writer.object(
            "NSManagedObjectModel",
            [
                (
                    "NSEntities",
                    writer.dictionary([("Team", .uid(team)), ("Person", .uid(person)), ("Leader", .uid(leader))])
                ),
                ("NSFetchRequestTemplates", writer.dictionary([("older", request)])),
                ("NSConfigurations", writer.dictionary([("Some", writer.list([.uid(team)], "NSSet"))])),
                ("NSVersionIdentifiers", writer.list([writer.string("v1")], "NSSet")),
            ])
        return writer.bytes(root: root)
    }
}
