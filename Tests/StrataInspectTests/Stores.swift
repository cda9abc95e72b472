import CoreData
import Foundation

/// The stores that the tests look at.
enum Stores {
    static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = true
        return attribute
    }

    static func relate(
        _ name: String, _ source: NSEntityDescription, _ inverseName: String, _ target: NSEntityDescription,
        isManyToMany: Bool = false
    ) {
        let (many, one) = (NSRelationshipDescription(), NSRelationshipDescription())
        (many.name, many.destinationEntity, many.maxCount) = (name, target, 0)
        (one.name, one.destinationEntity, one.maxCount) = (inverseName, source, isManyToMany ? 0 : 1)
        (many.inverseRelationship, one.inverseRelationship) = (one, many)
        source.properties.append(many)
        target.properties.append(one)
    }

    // MARK: A library

    /// Authors, books and tags; a book's cover is an image, its text is long.
    static func library() -> NSManagedObjectModel {
        let (author, book, audio, tag) = (
            NSEntityDescription(), NSEntityDescription(), NSEntityDescription(), NSEntityDescription()
        )
        (author.name, book.name, audio.name, tag.name) = ("Author", "Book", "AudioBook", "Tag")
        author.properties = [attribute("name", .stringAttributeType), attribute("born", .dateAttributeType)]
        book.properties = [
            attribute("title", .stringAttributeType), attribute("pages", .integer32AttributeType),
            attribute("price", .decimalAttributeType), attribute("text", .stringAttributeType),
            attribute("cover", .binaryDataAttributeType), attribute("isLent", .booleanAttributeType),
        ]
        audio.properties = [attribute("seconds", .integer32AttributeType)]
        tag.properties = [attribute("label", .stringAttributeType)]
        book.subentities = [audio]
        relate("books", author, "author", book)
        relate("tags", book, "books", tag, isManyToMany: true)
        let model = NSManagedObjectModel()
        model.entities = [author, book, audio, tag]
        return model
    }

    /// Three transactions, and then some: people of several authors, books that change and go.
    static func fillLibrary(_ fixture: InspectFixture, books: Int = 600) throws {
        try fixture.save(author: "import") { context in
            let tags = ["fantasy", "essay", "poetry"].map { InspectFixture.insert("Tag", ["label": $0], context) }
            let authors = ["Le Guin", "Lem", "Jansson", "Borges"].enumerated().map { index, name in
                InspectFixture.insert(
                    "Author", ["name": name, "born": Date(timeIntervalSince1970: Double(index) * 1e8 - 1.3e9)], context)
            }
            for number in 0..<books {
                let book = InspectFixture.insert(
                    number % 10 == 9 ? "AudioBook" : "Book",
                    [
                        "title": "Title \(number)", "pages": number % 700, "isLent": number % 3 == 0,
                        "price": NSDecimalNumber(string: "\(number % 50).90"), "author": authors[number % 4],
                    ], context)
                book.setValue(Set([tags[number % 3]]), forKey: "tags")
            }
            let first = InspectFixture.insert("Book", ["title": "With a cover", "author": authors[0]], context)
            first.setValue(png, forKey: "cover")
            first.setValue(String(repeating: "All work and no play. ", count: 50_000), forKey: "text")
        }
        for (number, author) in ["desk", "web", "desk", "night job"].enumerated() {
            try fixture.save(author: author) { context in
                let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
                request.predicate = NSPredicate(format: "title == %@", "Title \(number)")
                let book = try context.fetch(request)[0]
                if number == 3 { context.delete(book) } else { book.setValue(1_000 + number, forKey: "pages") }
            }
        }
    }

    /// A red square of 2 by 2 points.
    static let png =
        Data(
            base64Encoded:
                "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGP4z8AARAwQCgAf7gP9i18U1AAAAABJRU5ErkJggg=="
        ) ?? Data()

    // MARK: A hostile store

    /// What runs when it gets into a page as it is.
    static let script = "<script>window.hacked=1</script>"
    static let attributeName = "\"><img src=x onerror=\"window.hacked=1\">"
    static let relationshipName = "rel'/><svg onload=window.hacked=1>"

    static func hostile() -> NSManagedObjectModel {
        let (first, second) = (NSEntityDescription(), NSEntityDescription())
        (first.name, second.name) = (script, "../..//?a=b&c#%2e</title>")
        first.properties = [
            attribute(attributeName, .stringAttributeType), attribute("a,b;{c}\\", .stringAttributeType),
            attribute("number", .doubleAttributeType), attribute("data", .binaryDataAttributeType),
            attribute("date", .dateAttributeType), attribute("link", .URIAttributeType),
        ]
        second.properties = [attribute("__proto__", .stringAttributeType)]
        relate(relationshipName, first, "back", second)
        let model = NSManagedObjectModel()
        model.entities = [first, second]
        return model
    }

    static let texts = [
        script, "</td></tr></table><script>window.hacked=1</script>", "a\0b\u{1}\u{1B}[31m\u{7F}\u{85}\u{FFFF}",
        "\u{202E}desrever\u{2066}", "", "NULL", "e" + String(repeating: "\u{301}", count: 20_000),
        String(repeating: "x<", count: 600_000), "javascript:window.hacked=1", "=HYPERLINK(\"x\")", "a\r\nb\u{2028}c",
        "{{7*7}}${7*7}", "\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}",
    ]
    static let numbers: [Double] = [
        .nan, .infinity, -.infinity, .greatestFiniteMagnitude, -.greatestFiniteMagnitude, -0,
    ]
    static let datas = [
        Data(), Data("<svg xmlns='http://www.w3.org/2000/svg' onload='window.hacked=1'/>".utf8),
        Data("<html><script>window.hacked=1</script>".utf8), Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1]),
        Data(repeating: 7, count: 3_000_000), png,
    ]

    static func fillHostile(_ fixture: InspectFixture) throws {
        var status = WrittenStatus()
        (status.text, status.plan) = (texts[1], attributeName)
        (status.entity, status.program) = (script, texts[3] + script)
        try status.write(beside: fixture.store)
        try fixture.save(author: "<img src=x onerror=window.hacked=1>") { context in
            for index in 0..<max(texts.count, numbers.count, datas.count) {
                let object = InspectFixture.insert(
                    script,
                    [
                        attributeName: texts[index % texts.count], "a,b;{c}\\": texts[(index + 1) % texts.count],
                        "number": numbers[index % numbers.count], "data": datas[index % datas.count],
                        "date": Date(timeIntervalSinceReferenceDate: index % 2 == 0 ? 1e300 : -1e12),
                        "link": URL(string: "javascript:alert(1)"),
                    ], context)
                let other = InspectFixture.insert("../..//?a=b&c#%2e</title>", ["__proto__": texts[index]], context)
                other.setValue(object, forKey: "back")
            }
        }
    }
}
