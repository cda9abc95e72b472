/// A command, what it is about, and its options.
struct ToolArguments {
    let name: String
    private(set) var models: [String] = []
    private var options: [String: String] = [:]

    private static let known: Set<String> = ["momd", "cdm", "swift", "module", "config", "output"]

    init(_ arguments: [String]) throws {
        guard let name = arguments.first else { throw ToolError(ModelTool.usage) }
        self.name = name
        var rest = arguments.dropFirst()
        while let argument = rest.popFirst() {
            guard argument.hasPrefix("--") else {
                models.append(argument)
                continue
            }
            let option = String(argument.dropFirst(2))
            guard Self.known.contains(option), let value = rest.popFirst() else {
                throw ToolError("error: \(argument) is no option, or lacks its value\n\(ModelTool.usage)")
            }
            options[option] = value
        }
        guard !models.isEmpty else { throw ToolError("error: no model was named\n\(ModelTool.usage)") }
    }

    func optional(_ name: String) -> String? { options[name] }

    func option(_ name: String) throws -> String {
        guard let value = options[name] else { throw ToolError("error: --\(name) is missing\n\(ModelTool.usage)") }
        return value
    }

    /// - Throws: ``ToolError`` if more than one model was named.
    func onlyModel() throws -> String {
        guard models.count == 1 else { throw ToolError("error: one model at a time\n\(ModelTool.usage)") }
        return models[0]
    }
}
