/// What a method of Core Data's does with the members of a to-many relationship.
enum MemberMethod: Equatable {
    case add(String), remove(String), insert(String), removeAt(String), replace(String)

    /// The relationship, by the first of the names it may have.
    var key: String {
        switch self {
        case .add(let key), .remove(let key), .insert(let key), .removeAt(let key), .replace(let key): key
        }
    }

    /// Recognises the names that Xcode gives such methods, now and in earlier days; nil for other methods.
    ///
    /// - Parameter isProperty: whether the class declares a property of a name.
    init?(name: String, labels: [String], isProperty: (String) -> Bool) {
        func key(_ capitalized: Substring) -> String {
            isProperty(String(capitalized)) ? String(capitalized) : Self.decapitalized(capitalized)
        }
        // insertObject(_:inBooksAtIndex:) has the relationship's name in a label.
        let isInLabel = name == "insertObject" && labels.count == 2 && labels[1].hasPrefix("in")
        let whole = isInLabel ? name + labels[1] : name
        let arguments = isInLabel ? ["", ""] : labels
        for form in Self.forms where form.labels.contains(arguments) {
            guard whole.hasPrefix(form.prefix), whole.hasSuffix(form.suffix),
                whole.utf8.count > form.prefix.utf8.count + form.suffix.utf8.count
            else { continue }
            let rest = whole.dropFirst(form.prefix.count).dropLast(form.suffix.count)
            guard rest.first?.isUppercase == true else { continue }
            self = form.make(key(rest))
            return
        }
        return nil
    }

    /// "Books" becomes "books".
    static func decapitalized(_ name: Substring) -> String {
        name.prefix(1).lowercased() + name.dropFirst()
    }

    private struct Form {
        var prefix: String
        var suffix = ""
        var labels: [[String]]
        var make: @Sendable (String) -> MemberMethod
    }

    private static let forms: [Form] = [
        Form(prefix: "addTo", labels: [[""]]) { .add($0) },
        Form(prefix: "removeFrom", labels: [[""]]) { .remove($0) },
        Form(prefix: "removeFrom", labels: [["at"]]) { .removeAt($0) },
        Form(prefix: "insertInto", labels: [["", "at"]]) { .insert($0) },
        Form(prefix: "replace", suffix: "AtIndexes", labels: [["", "with"]]) { .replace($0) },
        Form(prefix: "replaceObjectIn", suffix: "AtIndex", labels: [["", "with"], ["", "withObject"]]) { .replace($0) },
        Form(prefix: "replace", labels: [["at", "with"]]) { .replace($0) },
        Form(prefix: "insertObjectin", suffix: "AtIndex", labels: [["", ""]]) { .insert($0) },
        Form(prefix: "insert", labels: [["", "at"], ["", "atIndexes"]]) { .insert($0) },
        Form(prefix: "removeObjectFrom", suffix: "AtIndex", labels: [[""]]) { .removeAt($0) },
        Form(prefix: "remove", suffix: "AtIndexes", labels: [[""]]) { .removeAt($0) },
        Form(prefix: "add", suffix: "Object", labels: [[""]]) { .add($0) },
        Form(prefix: "remove", suffix: "Object", labels: [[""]]) { .remove($0) },
        Form(prefix: "add", labels: [[""]]) { .add($0) },
        Form(prefix: "remove", labels: [[""]]) { .remove($0) },
    ]
}
