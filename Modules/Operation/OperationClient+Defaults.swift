public import OperationCore

extension OperationClient {
  /// Creates a client whose operations get the defaults of ``DefaultStoreCreator``; under a test runner, those for tests.
  ///
  /// - Parameters:
  ///   - defaultContext: The context that stores begin with.
  ///   - storeCache: Decides which idle stores go.
  public convenience init(
    defaultContext: OperationContext = OperationContext(),
    storeCache: some StoreCache = DefaultStoreCache.default()
  ) {
    self.init(
      defaultContext: defaultContext,
      storeCache: storeCache,
      storeCreator: TestRunner.isRunning ? .defaultTesting : .default()
    )
  }
}
