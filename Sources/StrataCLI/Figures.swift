import StrataBrowsing
import StrataModelFile

extension OutputOptions {
    /// Prints what a command has done: a few values with their names.
    func write(_ figures: [(name: String, value: Cell)]) {
        let terminal = Terminal.output
        switch format {
        case .table:
            for (name, value) in figures { terminal.write("\(name): \(value.tableText(exactBytes: bytes))\n") }
        case .json, .ndjson:
            terminal.write(RecordWriter.json(figures.map(\.name), figures.map(\.value)) + "\n")
        case .csv:
            let writer = RecordWriter(self, columns: ["what", "value"])
            for (name, value) in figures { writer.write([.text(name), value]) }
            writer.finish()
        }
        terminal.flush()
    }
}
