public import OperationCore

extension OperationClient {
  /// Creates a client with the defaults of ``DefaultStoreCreator``, or with the defaults for tests under a test runner.
  ///
  /// - Parameters:
  ///   - defaultContext: The initial context of stores.
  ///   - storeCache: Decides which idle stores are dropped.
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
