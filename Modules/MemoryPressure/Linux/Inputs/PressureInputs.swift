#if os(Linux)
  internal import OperationControlGroups

  /// What there is to watch.
  struct PressureInputs: Sendable {
    var groups: MemoryGroups
    /// Tells of stalls, or what the service manager offers instead.
    var stalls: [any PressureInput] = []
    /// What `stalls` were opened from.
    var source: StallSource?
    var limits: LimitInput?
    /// Whether something could not be opened that may be in a moment, since the process was out of descriptors or memory.
    var isShort = false

    /// Opens what is there; nil when the service manager says that memory is not to be watched.
    ///
    /// - Parameters:
    ///   - paths: Where to look.
    ///   - obeysServiceManager: Whether the service manager is asked.
    ///   - open: Opens a source of stalls.
    ///   - refused: What is not to be used, though it may be there.
    ///   - window: The window of the limits.
    ///   - time: The present.
    init?(
      paths: LinuxMemoryPaths,
      obeysServiceManager: Bool,
      opening open: (StallSource, Duration) throws(SystemError) -> [any PressureInput],
      without refused: Set<StallSource>,
      window: Duration,
      at time: Duration
    ) {
      let watch = obeysServiceManager ? ServiceManagerWatch(environment: paths.environment) : .unset
      if watch == .off { return nil }
      self.groups = MemoryGroups(paths: paths)
      var sources: [StallSource] = []
      if case .path(let path, let bytes) = watch { sources.append(.serviceManager(path: path, writing: bytes)) }
      if let group = self.groups.unified?.own { sources.append(.file(group + "/memory.pressure")) }
      sources.append(.file(paths.procRoot + "/pressure/memory"))
      for source in sources where self.stalls.isEmpty && !refused.contains(source) {
        do throws(SystemError) {
          self.stalls = try open(source, time)
          self.source = source
        } catch {
          if error.isShortage { self.isShort = true }
        }
      }
      if self.groups.hasUnifiedMemory, let group = self.groups.unified?.own {
        self.limits = LimitInput(group: group, window: window)
      }
    }

    func contains(_ input: any PressureInput) -> Bool {
      self.limits === input || self.isStall(input)
    }

    /// Whether it is one of `stalls`.
    func isStall(_ input: any PressureInput) -> Bool {
      self.stalls.contains { $0 === input }
    }

    mutating func remove(_ input: any PressureInput) {
      if self.limits === input { self.limits = nil }
      self.stalls.removeAll { $0 === input }
    }
  }
#endif
