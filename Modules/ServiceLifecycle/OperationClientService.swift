#if SwiftOperationServiceLifecycle
  public import OperationCore
  public import ServiceLifecycle

  /// A client as a service: it lets running mutations finish when the program shuts down gracefully.
  ///
  /// ```swift
  /// let operations = OperationClientService(client) { report in
  ///   for run in report.cutOff { logger.warning("cut off: \(run.kind)") }
  /// }
  /// let group = ServiceGroup(services: [database, operations, server], gracefulShutdownSignals: [.sigterm], logger: logger)
  /// try await group.run()
  /// ```
  ///
  /// A group shuts services down in the reverse order: put a client behind what its operations need, and before what calls
  /// them.
  public struct OperationClientService: Service {
    private let client: OperationClient
    private let deadline: Duration
    private let onShutdown: @Sendable (OperationShutdownReport) -> Void

    /// Creates a service.
    ///
    /// - Parameters:
    ///   - client: The client. Its stores are looked after; stores that no client keeps are not.
    ///   - deadline: How long mutations may take to finish, by the deadlines of the client's default context.
    ///   - onShutdown: Gets what was cut off, as soon as it was: some of it may still be about to end.
    public init(
      _ client: OperationClient,
      deadline: Duration = .seconds(30),
      onShutdown: @escaping @Sendable (OperationShutdownReport) -> Void
    ) {
      self.client = client
      self.deadline = deadline
      self.onShutdown = onShutdown
    }

    /// Waits for the shutdown, and carries it out.
    ///
    /// At a graceful shutdown nothing is run for subscribers any more, and mutations go on until the deadline, with the queries
    /// that they may wait for. What runs when the last mutation has ended, or at the deadline, is cancelled. It returns when all
    /// runs have ended. When its task is cancelled, it cancels all runs at once and waits for none.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    public func run() async throws {
      let isGraceful = await Self.isGracefulShutdown()
      self.client.stopAutomaticRuns()
      var ending = ShutdownEnding()
      let isPeaceful = isGraceful ? await self.haveEndedInPeace(&ending) : false
      if !isPeaceful { ending.cutOff(self.client.runningStores()) }
      self.onShutdown(OperationShutdownReport(cutOff: ending.runs))
      await ending.allHaveEnded()
      try Task.checkCancellation()
    }

    /// Waits for a shutdown. False when the task is cancelled instead.
    private static func isGracefulShutdown() async -> Bool {
      do { try await gracefulShutdown() } catch { return false }
      return !Task.isCancelled
    }

    /// Lets mutations end, and cuts off queries. False when the deadline has come or the task is cancelled before.
    private func haveEndedInPeace(_ ending: inout ShutdownEnding) async -> Bool {
      let end = self.client.defaultContext.operationDeadlines.elapsed + self.deadline
      // One may begin while the queries are being cut off.
      repeat {
        guard await self.mutationsHaveEnded(by: end) else { return false }
        ending.cutOff(self.client.runningStores().filter(\.canRunUnasked))
      } while self.client.runningStores().contains { !$0.canRunUnasked }
      return true
    }

    /// Waits until no mutation runs. False when the deadline has come or the task is cancelled before.
    private func mutationsHaveEnded(by end: Duration) async -> Bool {
      let client = self.client
      let deadlines = client.defaultContext.operationDeadlines
      return await withTaskGroup(of: Bool.self) { group in
        group.addTask {
          while let running = client.runningStores().first(where: { !$0.canRunUnasked }), !Task.isCancelled {
            await running.settled()
          }
          return !Task.isCancelled
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
