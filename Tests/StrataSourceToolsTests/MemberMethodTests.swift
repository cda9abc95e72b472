import Testing

@testable import StrataSourceTools

@Suite struct MemberMethodTests {
    @Test(arguments: [
        ("addToBooks", [""], MemberMethod.add("books")), ("removeFromBooks", [""], .remove("books")),
        ("removeFromBooks", ["at"], .removeAt("books")), ("insertIntoBooks", ["", "at"], .insert("books")),
        ("replaceBooks", ["at", "with"], .replace("books")), ("addBooksObject", [""], .add("books")),
        ("removeBooksObject", [""], .remove("books")), ("addBooks", [""], .add("books")),
        ("removeBooks", [""], .remove("books")), ("insertBooks", ["", "atIndexes"], .insert("books")),
        ("insertObject", ["", "inBooksAtIndex"], .insert("books")),
        ("removeObjectFromBooksAtIndex", [""], .removeAt("books")),
        ("removeBooksAtIndexes", [""], .removeAt("books")), ("addToURLs", [""], .add("URLs")),
    ])
    func methodsOfCoreDatasAreRecognised(_ name: String, _ labels: [String], _ expected: MemberMethod) {
        #expect(MemberMethod(name: name, labels: labels) { $0 == "URLs" } == expected)
    }

    @Test(arguments: [
        ("address", [""]), ("addToBooks", ["book"]), ("countBooks", []), ("remove", [""]),
        ("insertIntoBooks", [""]),
    ])
    func othersAreNot(_ name: String, _ labels: [String]) {
        #expect(MemberMethod(name: name, labels: labels) { _ in false } == nil)
    }
}
