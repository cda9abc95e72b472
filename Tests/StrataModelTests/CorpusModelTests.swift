import Foundation
import Strata
import StrataModelFile
import StrataModelXML
import Testing

@testable import StrataModelTool

/// The models of real programs, when the environment names a folder of them: their XML in "models".
@Suite(.enabled(if: ProcessInfo.processInfo.environment["STRATA_CORPUS"] != nil)) struct CorpusModelTests {
    private struct Model {
        let name: String
        let data: Data
        let document: ModelDocument
        let tree: CorpusTree
    }

    private func models() throws -> [Model] {
        let path = try #require(ProcessInfo.processInfo.environment["STRATA_CORPUS"])
        let folder = URL(fileURLWithPath: path, isDirectory: true).appendingPathComponent("models")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".xml") }
        return try names.sorted().map { name in
            let data = try Data(contentsOf: folder.appendingPathComponent(name))
            let reading = try XcodeModel.read(data, file: name)
            #expect(!reading.diagnostics.contains { $0.severity == .error }, "\(name): \(reading.diagnostics)")
            return Model(
                name: name, data: data, document: reading.document, tree: try #require(CorpusTree.root(of: data)))
        }
    }

    /// The graph as its XML describes it.
    private func lines(_ tree: CorpusTree) -> Set<String> {
        var lines: Set<String> = []
        for entity in tree.all("entity") {
            let name = entity["name"] ?? ""
            lines.insert("\(name): \(entity["parentEntity"] ?? "-") abstract \(entity.says("isAbstract"))")
            for attribute in entity.all("attribute") {
                lines.insert(
                    "\(name).\(attribute["name"] ?? ""): \(attribute["attributeType"] ?? "Undefined") optional "
                        + "\(attribute.says("optional")) transient \(attribute.says("transient")) renamed from "
                        + "\(attribute["elementID"] ?? "-") external "
                        + "\(attribute.says("allowsExternalBinaryDataStorage")) by "
                        + "\(attribute["valueTransformerName"] ?? "-") info \(info(attribute))")
            }
            for relationship in entity.all("relationship") {
                let isToMany = relationship.says("toMany")
                let maximum = relationship["maxCount"].flatMap { Int($0) } ?? (isToMany ? 0 : 1)
                lines.insert(
                    "\(name).\(relationship["name"] ?? ""): to \(relationship["destinationEntity"] ?? "") by "
                        + "\(relationship["inverseName"] ?? "-") optional \(relationship.says("optional")) many \(isToMany) "
                        + "ordered \(relationship.says("ordered")) \(relationship["minCount"] ?? "0")...\(maximum) "
                        + "\(relationship["deletionRule"] ?? "")")
            }
            for property in entity.all("fetchedProperty") {
                let request = property.all("fetchRequest").first
                lines.insert("\(name).\(property["name"] ?? ""): fetched \(request?["entity"] ?? "-")")
            }
            for index in entity.all("fetchIndex") {
                let elements = index.all("fetchIndexElement").map { "\($0["property"] ?? "") \($0["order"] ?? "")" }
                lines.insert("\(name) index \(index["name"] ?? ""): \(elements)")
            }
            for constraint in entity.all("uniquenessConstraints").flatMap({ $0.all("uniquenessConstraint") }) {
                lines.insert("\(name) unique \(constraint.all("constraint").map { $0["value"] ?? "" })")
            }
        }
        for request in tree.all("fetchRequest") { lines.insert("request \(request["name"] ?? "")") }
        for configuration in tree.all("configuration") {
            let members = configuration.all("memberEntity").map { $0["name"] ?? "" }.sorted()
            lines.insert("configuration \(configuration["name"] ?? ""): \(members)")
        }
        return lines
    }

    private func info(_ element: CorpusTree) -> [String] {
        element.all("userInfo").flatMap { $0.all("entry") }.map { "\($0["key"] ?? "")=\($0["value"] ?? "")" }.sorted()
    }

    /// The same of a model that is loaded.
    private func lines(_ model: NSManagedObjectModel) -> Set<String> {
        var lines: Set<String> = []
        for entity in model.entities {
            let name = entity.name ?? ""
            lines.insert("\(name): \(entity.superentity?.name ?? "-") abstract \(entity.isAbstract)")
            let inherited = Set((entity.superentity?.propertiesByName ?? [:]).keys)
            for property in entity.properties where !inherited.contains(property.name) {
                lines.insert("\(name).\(property.name): " + text(property))
            }
            for index in entity.indexes {
                let elements = index.elements.map {
                    "\($0.propertyName ?? "") \($0.isAscending ? "ascending" : "descending")"
                }
                lines.insert("\(name) index \(index.name): \(elements)")
            }
            for constraint in entity.uniquenessConstraints { lines.insert("\(name) unique \(constraint)") }
        }
        for name in model.fetchRequestTemplatesByName.keys { lines.insert("request \(name)") }
        for name in model.configurations where name != "PF_DEFAULT_CONFIGURATION_NAME" {
            let members = model.entities(forConfigurationName: name) ?? []
            lines.insert("configuration \(name): \(members.compactMap(\.name).sorted())")
        }
        return lines
    }

    private func text(_ property: NSPropertyDescription) -> String {
        switch property {
        case let attribute as NSAttributeDescription:
            let type = ModelDocument.AttributeType.allCases.first { Self.types[$0] == attribute.attributeType }
            let info = (attribute.userInfo ?? [:]).map { "\($0.key)=\($0.value)" }.sorted()
            let renaming = attribute.renamingIdentifier ?? "-"
            return "\(type?.rawValue ?? "?") optional \(attribute.isOptional) transient \(attribute.isTransient) "
                + "renamed from \(renaming == attribute.name ? "-" : renaming) external "
                + "\(attribute.allowsExternalBinaryDataStorage) by \(attribute.valueTransformerName ?? "-") info \(info)"
        case let relationship as NSRelationshipDescription:
            let rules: [NSDeleteRule: String] = [
                .noActionDeleteRule: "No Action", .nullifyDeleteRule: "Nullify", .cascadeDeleteRule: "Cascade",
                .denyDeleteRule: "Deny",
            ]
            return "to \(relationship.destinationEntity?.name ?? "") by "
                + "\(relationship.inverseRelationship?.name ?? "-") optional \(relationship.isOptional) many \(relationship.isToMany) ordered \(relationship.isOrdered) "
                + "\(relationship.minCount)...\(relationship.maxCount) \(rules[relationship.deleteRule] ?? "")"
        case let fetched as NSFetchedPropertyDescription: return "fetched \(fetched.fetchRequest?.entityName ?? "-")"
        default: return "\(type(of: property))"
        }
    }

    private static let types: [ModelDocument.AttributeType: NSAttributeType] = [
        .undefined: .undefinedAttributeType, .integer16: .integer16AttributeType, .integer32: .integer32AttributeType,
        .integer64: .integer64AttributeType, .decimal: .decimalAttributeType, .double: .doubleAttributeType,
        .float: .floatAttributeType, .string: .stringAttributeType, .boolean: .booleanAttributeType,
        .date: .dateAttributeType, .binary: .binaryDataAttributeType, .uuid: .UUIDAttributeType,
        .uri: .URIAttributeType, .transformable: .transformableAttributeType, .composite: .compositeAttributeType,
    ]

    @Test func theGraphIsWhatTheXMLDescribes() throws {
        let models = try models()
        #expect(models.count >= 50)
        for model in models {
            let expected = lines(model.tree)
            let loaded = lines(try NSManagedObjectModel(document: model.document))
            #expect(loaded.subtracting(expected).sorted() == [], "\(model.name)")
            #expect(expected.subtracting(loaded).sorted() == [], "\(model.name)")
        }
    }

    @Test func whatIsWrittenIsTheFileAgain() throws {
        for model in try models() {
            let written = try XcodeModel.data(of: model.document)
            #expect(try XcodeModel.read(written, file: model.name).document == model.document, "\(model.name)")
            let again = Set(try #require(CorpusTree.root(of: written)).lines())
            let before = Set(model.tree.lines())
            #expect(before.subtracting(again).sorted() == [], "\(model.name)")
            #expect(again.subtracting(before).sorted() == [], "\(model.name)")
            let loaded = try NSManagedObjectModel(document: model.document)
            let given = try NSManagedObjectModel(document: loaded.document())
            #expect(given.entityVersionHashesByName == loaded.entityVersionHashesByName, "\(model.name)")
            #expect(lines(given) == lines(loaded), "\(model.name)")
            let compiled = try CompiledModel.document(from: CompiledModel.data(of: model.document))
            #expect(lines(try NSManagedObjectModel(document: compiled)) == lines(loaded), "\(model.name)")
        }
    }

    /// Every class of every model in one module each, checked by the compiler.
    @Test func theClassesBuild() throws {
        let products = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        try ModelFixtures.withDirectory { directory in
            for (number, model) in try models().enumerated() {
                var document = model.document
                for index in document.entities.indices {
                    document.entities[index].codeGeneration = .classDefinition
                    document.entities[index].classModule = nil
                    let name = document.entities[index].className ?? ""
                    let isPlain = !name.isEmpty && name.allSatisfy { $0.isLetter || $0.isNumber }
                    document.entities[index].className = isPlain ? name : "Class\(index)"
                }
                let generator = ClassGenerator(document, module: "Model\(number)", options: GeneratorOptions())
                #expect(generator.problems().isEmpty, "\(model.name)")
                let file = directory.appendingPathComponent("\(number).swift")
                // The classes of values are the program's.
                let own = Set(document.entities.flatMap(\.attributes).compactMap(\.valueClassName))
                    .filter { $0.allSatisfy { $0.isLetter } && !$0.hasPrefix("NS") }
                let text = own.sorted().map { "public final class \($0): NSObject {}\n" }.joined()
                try Data((generator.file(named: "Model.swift").text + text).utf8).write(to: file)
                let outcome = try check(file, products)
                #expect(outcome.isEmpty, "\(model.name): \(outcome)")
            }
        }
    }

    /// What the compiler says of a file.
    private func check(_ file: URL, _ products: URL) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "swiftc", "-typecheck", "-swift-version", "6", "-parse-as-library", "-module-name", "Model", file.path,
        ]
        // The modules, and the headers of those in C that they are made of.
        let checkouts = products.deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("checkouts")
        let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Sources")
        let places = [
            products.appendingPathComponent("Modules"),
            checkouts.appendingPathComponent("swift-system/Sources/CSystem/include"),
            sources.appendingPathComponent("CLZ4"),
        ]
        process.arguments? += places.flatMap { ["-I", $0.path] }
        let map = products.appendingPathComponent("CStrataSupport.build/module.modulemap")
        process.arguments? += ["-Xcc", "-fmodule-map-file=\(map.path)"]
        let messages = Pipe()
        process.standardError = messages
        try process.run()
        let text = messages.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: text, as: UTF8.self)
    }
}
