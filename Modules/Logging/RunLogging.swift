#if SwiftOperationLogging
  public import Logging
  public import OperationCore
  internal import OperationEvents

  extension OperationClient {
    /// Logs the runs of all stores of the client from now on: when they begin and why, pauses, attempts and ends.
    ///
    /// ```swift
    /// client.logRuns(at: .debug)
    /// // run began operation.cause=polling operation.name=GetPost operation.path=[String, Int] operation.task=#7
    /// // run paused operation.name=GetPost operation.waits_for="the network is connected" …
    /// ```
    ///
    /// A run that never ends has its line, too. The logger is the ``OperationCore/OperationContext/operationLogger`` of the
    /// client's default context at the time of this call. The metadata contain user data, such as the elements of paths and
    /// the text of errors, only if ``OperationCore/OperationContext/operationLogsValues`` is true in that context. A second
    /// call replaces the first one.
    ///
    /// A task reads `client.events` until the client no longer exists. If it is too slow, it logs
    /// how many events it has missed.
    ///
    /// - Parameter level: The level to log at.
    public func logRuns(at level: Logger.Level = .info) {
      let context = self.defaultContext
      let log = RunLog(
        logger: context.operationLogger,
        level: level,
        logsValues: context.operationLogsValues,
        events: self.events
      )
      self.attach(log)
    }
  }

  /// The log of the runs of a client. It ends with its last reference.
  final class RunLog: Sendable {
    private let task: Task<Void, Never>

    init(logger: Logger, level: Logger.Level, logsValues: Bool, events: OperationEventSequence) {
      self.task = Task(name: "log runs") {
        var dropped = 0
        for await event in events {
          if events.droppedCount > dropped {
            let count = events.droppedCount - dropped
            dropped += count
            logger.log(level: level, "events missed", metadata: ["operation.missed": "\(count)"])
          }
          guard let entry = RunLogEntry(event, logsValues: logsValues) else { continue }
          logger.log(level: level, "\(entry.message)", metadata: entry.metadata)
        }
      }
    }

    deinit {
      self.task.cancel()
    }
  }
#endif
