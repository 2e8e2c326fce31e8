#if SwiftOperationServiceLifecycle
  public import OperationCore
  public import ServiceLifecycle

  /// Runs a client as a service, which lets running mutations finish when the program shuts down gracefully.
  ///
  /// ```swift
  /// let operations = OperationClientService(client) { report in
  ///   for run in report.cutOff { logger.warning("cancelled: \(run.kind)") }
  /// }
  /// let group = ServiceGroup(services: [database, operations, server], gracefulShutdownSignals: [.sigterm], logger: logger)
  /// try await group.run()
  /// ```
  ///
  /// A group shuts down its services in reverse order: list the client after the services that its operations need, and
  /// before those that call its operations.
  public struct OperationClientService: Service {
    private let client: OperationClient
    private let deadline: Duration
    private let onShutdown: @Sendable (OperationShutdownReport) -> Void

    /// Creates a service.
    ///
    /// - Parameters:
    ///   - client: The client. The service covers its stores, but no stores created without a client.
    ///   - deadline: How long mutations may take to finish, measured with the deadlines of the client's default
    ///     context.
    ///   - onShutdown: Receives a report of the cancelled runs right after the cancellation, possibly before they have
    ///     ended.
    public init(
      _ client: OperationClient,
      deadline: Duration = .seconds(30),
      onShutdown: @escaping @Sendable (OperationShutdownReport) -> Void
    ) {
      self.client = client
      self.deadline = deadline.clampedForClock
      self.onShutdown = onShutdown
    }

    /// Waits for the shutdown, and performs it.
    ///
    /// At a graceful shutdown, runs for subscribers stop. Mutations continue until the deadline, together with the
    /// queries that they may wait for. The remaining runs are cancelled when the last mutation has ended, or at the
    /// deadline. Then what the client's modules have not written yet is written: see
    /// ``/OperationCore/OperationClient/flush()``. The method returns when that is done and all runs have ended. If its
    /// task is cancelled, it cancels all runs at once, waits for none and does not flush.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    public func run() async throws {
      let isGraceful = await Self.isGracefulShutdown()
      self.client.stopAutomaticRuns()
      var cancelled = CancelledRuns()
      let mutationsHaveEnded = isGraceful ? await self.finishMutations(&cancelled) : false
      if !mutationsHaveEnded { cancelled.cancelRuns(of: self.client.runningStores()) }
      self.onShutdown(OperationShutdownReport(cutOff: cancelled.runs))
      // Also before the wait: a run that ignores its cancellation may take longer than the program has.
      if isGraceful { await self.client.flush() }
      await cancelled.waitUntilEnded()
      if isGraceful { await self.client.flush() }
      try Task.checkCancellation()
    }

    /// Waits for a shutdown. Returns false if the task is cancelled instead.
    private static func isGracefulShutdown() async -> Bool {
      do { try await gracefulShutdown() } catch { return false }
      return !Task.isCancelled
    }

    /// Waits for the mutations, then cancels the queries. Returns false at the deadline or when the task is cancelled.
    private func finishMutations(_ cancelled: inout CancelledRuns) async -> Bool {
      let end = self.client.defaultContext.operationDeadlines.elapsed + self.deadline
      // Another mutation may start while the queries are being cancelled.
      repeat {
        guard await self.mutationsHaveEnded(by: end) else { return false }
        cancelled.cancelRuns(of: self.client.runningStores().filter(\.allowsAutomaticRuns))
      } while self.client.runningStores().contains { !$0.allowsAutomaticRuns }
      return true
    }

    /// Waits until no mutation is running. Returns false at the deadline or when the task is cancelled.
    private func mutationsHaveEnded(by end: Duration) async -> Bool {
      let client = self.client
      let deadlines = client.defaultContext.operationDeadlines
      return await withTaskGroup(of: Bool.self) { group in
        group.addTask {
          while !Task.isCancelled {
            // All that run now, and then those that have begun meanwhile: looking for them costs a step for each store.
            let running = client.runningStores().filter { !$0.allowsAutomaticRuns }
            if running.isEmpty { return true }
            for store in running where !Task.isCancelled { await store.settled() }
          }
          return false
        }
        group.addTask {
          _ = try? await deadlines.sleep(for: end - deadlines.elapsed)
          return false
        }
        let haveEnded = await group.next() ?? false
        group.cancelAll()
        return haveEnded
      }
    }
  }
#endif
