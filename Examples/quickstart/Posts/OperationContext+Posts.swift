import Operation

extension OperationContext {
  /// The remote that operations on posts talk to; put it into the default context of the client.
  var postAPI: PostAPI {
    get {
      guard let api = self[APIKey.self] else {
        preconditionFailure("There is no PostAPI in the context: set client.defaultContext.postAPI first.")
      }
      return api
    }
    set { self[APIKey.self] = newValue }
  }

  /// What is left of earlier runs; empty unless somebody sets it.
  var postCache: PostCache {
    get { self[CacheKey.self] }
    set { self[CacheKey.self] = newValue }
  }

  private enum APIKey: Key {
    static let defaultValue: PostAPI? = nil
  }

  private enum CacheKey: Key {
    static let defaultValue = PostCache()
  }
}
