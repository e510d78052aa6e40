j
locationdata.binj
offset0j
length64p