import Foundation

/// Properties of Foundation's values that existing predicates read by their Objective-C names.
enum FoundationKeys {
    static func value(of object: Any, forKey key: String) -> Any? {
        switch object {
        case let string as String: value(of: string, forKey: key)
        case let number as NSNumber: value(of: number, forKey: key)
        case let date as Date: value(of: date, forKey: key)
        case let uuid as UUID: key == "UUIDString" || key == "uuidString" ? uuid.uuidString : nil
        case let url as URL: value(of: url, forKey: key)
        case let data as Data: key == "length" ? data.count : nil
        default: nil
        }
    }

    private static func value(of string: String, forKey key: String) -> Any? {
        switch key {
        case "length": string.utf16.count
        case "uppercaseString", "uppercased": string.uppercased()
        case "lowercaseString", "lowercased": string.lowercased()
        case "capitalizedString", "capitalized": string.capitalized
        case "lastPathComponent": NSString(string: string).lastPathComponent
        case "pathExtension": NSString(string: string).pathExtension
        case "stringByDeletingLastPathComponent": NSString(string: string).deletingLastPathComponent
        case "stringByDeletingPathExtension": NSString(string: string).deletingPathExtension
        case "intValue", "integerValue", "longLongValue": NSString(string: string).integerValue
        case "doubleValue", "floatValue": NSString(string: string).doubleValue
        case "boolValue": NSString(string: string).boolValue
        case "description": string
        default: nil
        }
    }

    private static func value(of number: NSNumber, forKey key: String) -> Any? {
        switch key {
        case "intValue", "integerValue", "longLongValue", "longValue": number.intValue
        case "doubleValue": number.doubleValue
        case "floatValue": number.floatValue
        case "boolValue": number.boolValue
        case "stringValue", "description": number.stringValue
        default: nil
        }
    }

    private static func value(of date: Date, forKey key: String) -> Any? {
        switch key {
        case "timeIntervalSinceReferenceDate": date.timeIntervalSinceReferenceDate
        case "timeIntervalSince1970": date.timeIntervalSince1970
        case "timeIntervalSinceNow": date.timeIntervalSinceNow
        default: nil
        }
    }

    private static func value(of url: URL, forKey key: String) -> Any? {
        switch key {
        case "absoluteString": url.absoluteString
        case "path": url.path
        case "host": url.host
        case "scheme": url.scheme
        case "query": url.query
        case "fragment": url.fragment
        case "lastPathComponent": url.lastPathComponent
        case "pathExtension": url.pathExtension
        default: nil
        }
    }
}
