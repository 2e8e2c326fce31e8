public import OperationCore

public struct Article: Hashable, Sendable {
  public typealias Number = Int

  public var number: Number
  public var title: String

  public init(number: Number, title: String) {
    self.number = number
    self.title = title
  }
}

extension Article {
  public struct Query: QueryRequest {
    let number: Number

    public init(number: Number) {
      self.number = number
    }

    public func fetch(
      isolation: isolated (any Actor)?,
      in context: OperationContext,
      with continuation: OperationContinuation<Article, any Error>
    ) async throws -> Article {
      try context.library.article(number: self.number)
    }
  }

  public struct LatestQuery: QueryRequest {
    public init() {}

    public func fetch(
      isolation: isolated (any Actor)?,
      in context: OperationContext,
      with continuation: OperationContinuation<Article?, any Error>
    ) async throws -> Article? {
      context.library.latest
    }
  }
}
