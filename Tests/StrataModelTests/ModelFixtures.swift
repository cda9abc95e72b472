import Foundation
import StrataModelFile
import StrataModelXML

/// Model files, and where to put them.
enum ModelFixtures {
    /// Something of everything that the vocabulary has.
    static let complete = """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" lastSavedToolsVersion="22758" \
        systemVersion="23E224" minimumToolsVersion="Automatic" sourceLanguage="Swift" usedWithCloudKit="NO" \
        userDefinedModelVersionIdentifier="7">
            <entity name="Work" representedClassName="Work" isAbstract="YES" syncable="YES" codeGenerationType="class">
                <attribute name="title" attributeType="String" minValueString="1" maxValueString="200" \
        regularExpressionString="[A-Z].*" defaultValueString="Untitled"/>
                <attribute name="identifier" optional="YES" attributeType="UUID" usesScalarValueType="NO" indexed="YES"/>
                <uniquenessConstraints>
                    <uniquenessConstraint>
                        <constraint value="identifier"/>
                    </uniquenessConstraint>
                </uniquenessConstraints>
            </entity>
            <entity name="Book" representedClassName=".Book" parentEntity="Work" elementID="Volume" \
        versionHashModifier="v2" syncable="YES" codeGenerationType="class">
                <attribute name="pages" optional="YES" attributeType="Integer 32" minValueString="1" \
        defaultValueString="100" usesScalarValueType="YES" elementID="pageCount" versionHashModifier="m">
                    <userInfo>
                        <entry key="unit" value="pages &amp; leaves"/>
                        <entry key="" value=""/>
                    </userInfo>
                </attribute>
                <attribute name="price" optional="YES" attributeType="Decimal" defaultValueString="9.95" \
        maxValueString="1000"/>
                <attribute name="isLent" attributeType="Boolean" defaultValueString="YES" usesScalarValueType="YES"/>
                <attribute name="published" optional="YES" attributeType="Date" defaultDateTimeInterval="-725882400" \
        minDateTimeInterval="-3155760000.5" maxDateTimeInterval="3155760000" usesScalarValueType="NO"/>
                <attribute name="cover" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES" \
        allowsCloudEncryption="YES" storedInTruthFile="YES"/>
                <attribute name="tags" optional="YES" attributeType="Transformable" \
        valueTransformerName="NSSecureUnarchiveFromData" customClassName="[String]" preserveAfterDeletion="YES"/>
                <attribute name="home" optional="YES" attributeType="URI" defaultValueString="https://swift.org" \
        spotlightIndexingEnabled="YES"/>
                <attribute name="size" optional="YES" attributeType="Composite" composite="Size"/>
                <attribute name="authorCount" optional="YES" attributeType="Integer 64" derived="YES" \
        derivationExpression="authors.@count" usesScalarValueType="YES"/>
                <attribute name="scratch" optional="YES" transient="YES"/>
                <relationship name="authors" optional="YES" toMany="YES" minCount="1" maxCount="5" ordered="YES" \
        deletionRule="Nullify" destinationEntity="Author" inverseName="books" inverseEntity="Author"/>
                <relationship name="shelf" optional="YES" maxCount="1" deletionRule="Deny" destinationEntity="Shelf" \
        inverseName="books" inverseEntity="Shelf"/>
                <fetchedProperty name="sameShelf" optional="YES">
                    <fetchRequest name="fetchedPropertyFetchRequest" entity="Book" \
        predicateString="shelf == $FETCH_SOURCE.shelf"/>
                </fetchedProperty>
                <fetchIndex name="byPages">
                    <fetchIndexElement property="pages" type="Binary" order="descending"/>
                    <fetchIndexElement property="title" type="Binary" order="ascending"/>
                </fetchIndex>
                <compoundIndexes>
                    <compoundIndex>
                        <index value="pages"/>
                        <index value="price"/>
                    </compoundIndex>
                </compoundIndexes>
                <userInfo>
                    <entry key="origin" value="fixture"/>
                </userInfo>
            </entity>
            <entity name="Author" representedClassName="Author" syncable="NO" codeGenerationType="category">
                <attribute name="name" attributeType="String"/>
                <relationship name="books" optional="YES" toMany="YES" deletionRule="Cascade" \
        destinationEntity="Book" inverseName="authors" inverseEntity="Book" syncable="YES"/>
            </entity>
            <entity name="Shelf" representedClassName="" syncable="YES">
                <relationship name="books" optional="YES" toMany="YES" deletionRule="Nullify" \
        destinationEntity="Book" inverseName="shelf" inverseEntity="Book"/>
            </entity>
            <composite name="Size">
                <attribute name="width" optional="YES" attributeType="Double" defaultValueString="0.5"/>
                <attribute name="height" optional="YES" attributeType="Float" defaultValueString="0.0"/>
            </composite>
            <fetchRequest name="long" entity="Book" predicateString="pages &gt; $MINIMUM" resultType="1" \
        fetchLimit="10" fetchBatchSize="5" includeSubentities="NO" includePropertyValues="YES" \
        includesPendingChanges="NO" returnObjectsAsFaults="NO" returnDistinctResults="YES"/>
            <configuration name="Cloud" usedWithCloudKit="YES">
                <memberEntity name="Shelf"/>
            </configuration>
            <elements>
                <element name="Book" positionX="-63" positionY="18.5" width="128" height="210"/>
            </elements>
        </model>

        """

    static func document(_ xml: String = complete) throws -> ModelDocument {
        let read = try XcodeModel.read(Data(xml.utf8), file: "fixture")
        return read.document
    }

    /// A model with one entity that has what is given.
    static func model(_ body: String, entity: String = "name=\"Item\" representedClassName=\"Item\"") -> String {
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<model documentVersion=\"1.0\">\n<entity \(entity)>\n\(body)\n"
            + "</entity>\n</model>\n"
    }

    static func diagnostics(_ xml: String, lint: ModelDiagnostic.Severity? = nil) throws -> [String] {
        try XcodeModel.read(Data(xml.utf8), file: "f", lint: lint).diagnostics.map(\.description)
    }

    /// Calls with a directory that is removed afterwards.
    static func withDirectory<Result>(_ body: (URL) throws -> Result) throws -> Result {
        let directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("models-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        return try body(directory)
    }

    /// Writes an ".xcdatamodeld" with versions, as XML.
    static func write(_ versions: [String: String], current: String?, to bundle: URL) throws {
        for (name, xml) in versions {
            let version = bundle.appendingPathComponent("\(name).xcdatamodel", isDirectory: true)
            try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
            try Data(xml.utf8).write(to: version.appendingPathComponent("contents"))
        }
        guard let current else { return }
        let list = ["_XCCurrentVersionName": current]
        let data = try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
        try data.write(to: bundle.appendingPathComponent(".xccurrentversion"))
    }
}
