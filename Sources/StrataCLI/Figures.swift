import StrataModelFile

extension OutputOptions {
    /// Prints what a command has done: a few numbers with their names.
    func write(_ figures: [(name: String, value: Int)]) {
        let terminal = Terminal.output
        switch format {
        case .table: for (name, value) in figures { terminal.write("\(name): \(value)\n") }
        case .json:
            let fields = figures.map { "\(QuotedText.of($0.name)):\($0.value)" }
            terminal.write("{\(fields.joined(separator: ","))}\n")
        case .csv:
            let writer = RecordWriter(.csv, columns: ["what", "value"])
            for (name, value) in figures { writer.write([.text(name), .integer(Int64(value))]) }
            writer.finish()
        }
        terminal.flush()
    }
}
