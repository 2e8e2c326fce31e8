public protocol Library: Sendable {
  var latest: Article? { get }
  func article(number: Article.Number) throws -> Article
}

public struct NoSuchArticle: Error {}

struct EmptyLibrary: Library {
  var latest: Article? { nil }

  func article(number: Article.Number) throws -> Article { throw NoSuchArticle() }
}
