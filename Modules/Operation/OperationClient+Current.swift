public import OperationCore

extension OperationClient {
  /// The client of the current task, or the one for the process.
  ///
  /// In the body of an operation, and in the tasks that it creates, it is the client of the store that runs the operation,
  /// whoever has caused the run. `withCurrent(_:operation:)` replaces it for a task and its children. The client for the
  /// process is created at the first use, with the defaults of ``init(defaultContext:storeCache:)``, and is never released.
  public static var current: OperationClient {
    CurrentClient.client { OperationClient() } ?? self.ofProcess
  }

  private static let ofProcess = OperationClient()

  /// Replaces ``current`` during an asynchronous operation, also in the tasks that it creates.
  ///
  /// Detached tasks and dispatch queues do not inherit the replacement.
  ///
  /// - Parameters:
  ///   - client: The client to use.
  ///   - operation: Called once, on the actor of the caller.
  /// - Returns: The result of `operation`.
  /// - Throws: The error of `operation`.
  nonisolated(nonsending) public static func withCurrent<R, E: Error>(
    _ client: OperationClient,
    operation: nonisolated(nonsending) () async throws(E) -> R
  ) async throws(E) -> R {
    // `withValue` rethrows any error, so a typed one is carried through it.
    let outcome: Result<R, E> = await CurrentClient.withScope(ClientScope(client)) {
      do throws(E) { return .success(try await operation()) } catch { return .failure(error) }
    }
    return try outcome.get()
  }

  /// Replaces ``current`` during a synchronous operation, also in the tasks that it creates.
  ///
  /// - Parameters:
  ///   - client: The client to use.
  ///   - operation: Called once, on the current thread.
  /// - Returns: The result of `operation`.
  /// - Throws: The error of `operation`.
  public static func withCurrent<R, E: Error>(
    _ client: OperationClient,
    operation: () throws(E) -> R
  ) throws(E) -> R {
    let outcome: Result<R, E> = CurrentClient.withScope(ClientScope(client)) {
      do throws(E) { return .success(try operation()) } catch { return .failure(error) }
    }
    return try outcome.get()
  }
}
