extension ClientStorage {
  func watch(_ path: OperationPath, onChange: @escaping @Sendable (ClientChange) -> Void) -> OperationSubscription {
    let watcher = StoreWatcher(path: path, onChange: onChange)
    let id = self.state.withLock { state in
      state.lastWatcherID += 1
      state.watchers[state.lastWatcherID] = watcher
      return state.lastWatcherID
    }
    return OperationSubscription { [weak self] in
      watcher.cancel()
      self?.state.withLock { state, released in released.append(state.watchers.removeValue(forKey: id)) }
    }
  }
}
