#if SwiftOperationPostgreSQL
  internal import OperationCore

  /// The steps of a statement: it is prepared where that is new to the session, executed, and its results are read.
  extension DatabaseConnection.State {
    typealias Actions = DatabaseConnection.Actions

    mutating func begin(_ command: DatabaseConnection.Command, _ name: ConnectionName) -> Actions {
      guard let handle = self.handle else {
        return self.ending(command, .failure(.unavailable("\(name)", "the connection was closed")))
      }
      precondition(self.command == nil, "A connection makes one statement at a time.")
      var command = command
      let isSent: Bool
      if command.statement.isScript {
        isSent = handle.execute(script: command.statement.sql)
      } else if !self.ownsSession {
        isSent = handle.execute(unnamed: command.statement, command.parameters)
      } else if let name = self.prepared[command.statement] {
        isSent = handle.execute(name, command.parameters)
      } else {
        let name = command.statement.name
        command.stage = .preparing(name: name)
        isSent = handle.prepare(command.statement, as: name)
      }
      self.command = command
      return isSent ? self.write(name) : self.fail(name)
    }

    private mutating func begin(again command: DatabaseConnection.Command, _ name: ConnectionName) -> Actions {
      self.command = nil
      return self.begin(command, name)
    }

    /// Writes what waits, and watches the socket while there is more.
    mutating func write(_ name: ConnectionName) -> Actions {
      guard let handle = self.handle else { return Actions() }
      guard let hasMore = handle.flush() else { return self.fail(name) }
      var actions = Actions()
      if hasMore {
        actions.startsWriting = self.writer == nil
      } else if let writer = self.writer.take() {
        actions.watches.append(writer)
      }
      return actions
    }

    /// Reads what has arrived, and goes on with the statement as far as that allows.
    mutating func read(_ name: ConnectionName) -> Actions {
      guard let handle = self.handle else { return Actions() }
      guard handle.consumeInput() else { return self.fail(name) }
      var actions = Actions()
      while let command = self.command, !handle.isBusy {
        if let pointer = handle.nextResult() {
          let result = QueryResult(pointer)
          if result.isCopying { return self.fail(name) }
          // The first error counts, and the rows of the last statement of a script.
          if case .success = command.result { self.command?.result = result.rows(name) }
        } else {
          actions = self.endStage(of: command, name)
          if self.handle == nil { return actions }
        }
      }
      while let notification = handle.nextNotification() {
        actions.events.append(.notification(channel: notification.channel, text: notification.text))
      }
      if handle.isBroken, self.command == nil {
        let closing = self.fail(name)
        actions.events += closing.events
        actions.watches += closing.watches
        actions.handle = closing.handle
      }
      actions.onEvent = self.onEvent ?? actions.onEvent
      return actions
    }

    private mutating func endStage(of command: DatabaseConnection.Command, _ name: ConnectionName) -> Actions {
      if self.ownsSession, !command.isAbandoned, case .failure(let error) = command.result, error.isOfStatementName {
        // The session is shared after all. Nothing was executed.
        self.ownsSession = false
        self.prepared = [:]
        var command = command
        command.result = .success([])
        command.stage = .executing
        return self.begin(again: command, name)
      }
      if case .preparing(let statementName) = command.stage, case .success = command.result, let handle = self.handle {
        self.prepared[command.statement] = statementName
        self.command?.stage = .executing
        // Without a caller it would be cancelled anyway.
        if !command.isAbandoned {
          return handle.execute(statementName, command.parameters) ? self.write(name) : self.fail(name)
        }
      }
      self.command = nil
      return self.ending(command, command.result)
    }

    private mutating func ending(
      _ command: DatabaseConnection.Command,
      _ result: Result<[QueryRow], PostgreSQLError>
    ) -> Actions {
      var actions = Actions()
      actions.outcome = (command.outcome, result)
      // A request to cancel that is still under way would reach the next statement.
      if self.cancelling == nil { self.becomeFree(&actions) }
      return actions
    }

    private mutating func becomeFree(_ actions: inout Actions) {
      actions.timer = self.patience.take()
      guard let handle, !handle.isBroken else { return }
      actions.events.append(.free)
      actions.onEvent = self.onEvent
    }

    /// Closes the connection with what libpq says about it.
    private mutating func fail(_ name: ConnectionName) -> Actions {
      self.close(.unavailable("\(name)", self.handle?.message ?? "the connection was closed"))
    }

    mutating func close(_ error: PostgreSQLError) -> Actions {
      var actions = Actions()
      guard let handle = self.handle.take() else { return actions }
      actions.handle = handle
      actions.timer = self.patience.take()
      actions.watches = [self.reader.take(), self.writer.take()].compactMap { $0 }
      if let command = self.command.take() {
        // What the server has said before it closed the connection says more.
        var result = command.result
        if case .success = result { result = .failure(error) }
        actions.outcome = (command.outcome, result)
      }
      actions.events = [.closed(error)]
      actions.onEvent = self.onEvent.take()
      return actions
    }

    /// Marks a statement whose caller has left, and returns what cancels it; nil if it has ended.
    mutating func abandon(_ outcome: DatabaseConnection.Outcome) -> StatementCancellation? {
      guard let handle, let command, command.outcome === outcome, !command.isAbandoned else { return nil }
      guard let cancellation = handle.cancellation() else { return nil }
      self.command?.isAbandoned = true
      self.cancelling = outcome
      return cancellation
    }

    /// Whether a statement that was abandoned, or the request to cancel it, is still under way.
    func isWaiting(forEndOf outcome: DatabaseConnection.Outcome) -> Bool {
      self.command?.outcome === outcome || self.cancelling === outcome
    }

    /// A request to cancel has reached the server.
    mutating func didCancel() -> Actions {
      self.cancelling = nil
      var actions = Actions()
      if self.command == nil { self.becomeFree(&actions) }
      return actions
    }
  }
#endif
