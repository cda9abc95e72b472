/// How a book is bound, over an Integer 16.
public enum Format: Int16, Sendable {
    case hardcover, paperback, audio
}
