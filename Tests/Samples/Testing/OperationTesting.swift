import OperationBackoff
import OperationCore
import OperationRetry
import OperationTesting
import Testing

struct ServerIsBusy: Error {}
