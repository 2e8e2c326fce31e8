import OperationCore
import OperationFleet
import OperationValkey

let client = OperationClient()
