import ArgumentParser
import Foundation
import StrataTransfer

/// The forms that stores come in from outside and go out in.
enum TransferForm: String, EnumerableFlag {
    case coreData, jsonl, csv

    static func help(for value: TransferForm) -> ArgumentHelp? {
        switch value {
        case .coreData: "A file of SQLite as Apple's Core Data has it."
        case .jsonl: "JSON Lines: the whole store with its model."
        case .csv: "Comma-separated values: a file for one entity, or a directory."
        }
    }
}

/// What is said of text forms.
struct TextOptions: ParsableArguments {
    @Option(
        help:
            "With --jsonl and --csv: the entities that are written; all if none is named. Of a file of CSV, whose it is.",
        completion: NameCompletion.entities)
    var entity: [String] = []
    @Option(
        help: ArgumentHelp(
            "With --jsonl and --csv: an attribute whose values stand for objects of its entity, instead of URIs.",
            valueName: "Entity.attribute"))
    var key: [String] = []

    func validate() throws {
        for key in key where key.split(separator: ".").count != 2 {
            throw ValidationError("--key has the form Entity.attribute, not \(key).")
        }
    }

    func validate(with form: TransferForm) throws {
        guard form == .coreData, !entity.isEmpty || !key.isEmpty else { return }
        throw ValidationError("--entity and --key go with --jsonl and --csv only.")
    }

    var transfer: TextTransfer {
        var transfer = TextTransfer()
        transfer.entities = entity
        for key in key {
            let parts = key.split(separator: ".").map { String($0) }
            transfer.keys.attributes[parts[0]] = parts[1]
        }
        return transfer
    }
}
